/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic of masked atomics, and their operands on the wire. */
#include "masked_atomic.h"

#include <string.h>

#define WORDS (MASKED_MAX / 8)

uint32_t masked_sizes(uint32_t features)
{
	if (!(features & UHCA_ABI_HAS_MASKED_ATOMICS))
		return 0;
	return 8 | (features & UHCA_ABI_HAS_MASKED_ATOMIC_SIZES ? 4 | 16 | 32 : 0);
}

bool masked_size_ok(uint32_t features, uint32_t size)
{
	return (size & (size - 1)) == 0 && (masked_sizes(features) & size);
}

uint32_t masked_payload(bool cas, uint32_t size)
{
	return (cas ? 4 : 2) * size;
}

void masked_load_be(const uint8_t *from, uint32_t size, struct masked_int *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < size; i++)
		out->word[i / 8] |= (uint64_t)from[size - 1 - i] << 8 * (i % 8);
}

void masked_store_be(const struct masked_int *v, uint32_t size, uint8_t *to)
{
	for (uint32_t i = 0; i < size; i++)
		to[size - 1 - i] = (uint8_t)(v->word[i / 8] >> 8 * (i % 8));
}

static bool host_is_big_endian(void)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return first == 0;
}

/* Host order to big-endian and back. */
static void to_be(const uint8_t *from, uint32_t size, uint8_t *to)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = from[host_is_big_endian() ? i : size - 1 - i];
}

void masked_load(const void *from, uint32_t size, struct masked_int *out)
{
	uint8_t be[MASKED_MAX];

	to_be(from, size, be);
	masked_load_be(be, size, out);
}

void masked_store(const struct masked_int *v, uint32_t size, void *to)
{
	uint8_t be[MASKED_MAX];

	masked_store_be(v, size, be);
	to_be(be, size, to);
}

void masked_to_wire(bool cas, uint32_t size, const uint8_t *operands, uint8_t *payload)
{
	for (uint32_t at = 0; at < masked_payload(cas, size); at += size)
		to_be(operands + at, size, payload + at);
}

/* The payload of a packet, of known length, in one piece. */
static void flatten(const struct core_burst *t, uint8_t *to)
{
	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(to, t->iov[i].iov_base, t->iov[i].iov_len);
		to += t->iov[i].iov_len;
	}
}

void masked_load_burst(const struct core_burst *t, struct masked_int *out)
{
	uint8_t value[MASKED_MAX];

	flatten(t, value);
	masked_load_be(value, t->length, out);
}

bool masked_parse(uint32_t features, const struct core_burst *t, struct masked_atomic *out)
{
	const struct roce_reth *h = &t->head.reth;
	uint8_t payload[MASKED_MAX_PAYLOAD];

	memset(out, 0, sizeof(*out));
	out->cas = roce_opcode_info(t->head.bth.opcode)->operation == ROCE_OP_MASKED_CMP_SWAP;
	out->size = h->length;
	if (!masked_size_ok(features, h->length) || h->va % h->length ||
	    t->length != masked_payload(out->cas, h->length))
		return false;
	flatten(t, payload);
	for (uint32_t i = 0; i < t->length / h->length; i++)
		masked_load_be(payload + (size_t)i * h->length, h->length, &out->operand[i]);
	return true;
}

static bool compare_swap(const struct masked_atomic *m, struct masked_int *v)
{
	for (unsigned i = 0; i < WORDS; i++)
		if ((v->word[i] ^ m->compare.word[i]) & m->compare_mask.word[i])
			return false;
	for (unsigned i = 0; i < WORDS; i++)
		v->word[i] = (v->word[i] & ~m->swap_mask.word[i]) |
			     (m->swap.word[i] & m->swap_mask.word[i]);
	return true;
}

/* Bits of word i that an integer of this size has. */
static uint64_t word_mask(uint32_t size, unsigned i)
{
	if (size >= 8 * (i + 1))
		return UINT64_MAX;
	return size == 4 && i == 0 ? UINT32_MAX : 0;
}

/*
 * The topmost bit of each field is added without carry, the others as one long number: what they
 * carry ends in those topmost bits. The top of the integer needs no bit, a carry is lost there.
 */
static void fetch_add(const struct masked_atomic *m, struct masked_int *v)
{
	uint64_t carry = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t top = m->boundary.word[i], a = v->word[i], b = m->add.word[i];
		uint64_t low = (a & ~top) + (b & ~top);
		uint64_t sum = low + carry;
		carry = low < (a & ~top) || sum < low;
		v->word[i] = (sum ^ ((a ^ b) & top)) & word_mask(m->size, i);
	}
}

bool masked_compute(const struct masked_atomic *m, struct masked_int *value)
{
	if (m->cas)
		return compare_swap(m, value);
	fetch_add(m, value);
	return true;
}
