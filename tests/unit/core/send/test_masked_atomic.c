/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics with masks against a reference that looks at one bit at a time; sizes, byte orders, what
 * is a request and what is none, and the execution on memory.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/qp/qp.h"
#include "emu/core/receive/atomic.h"
#include "emu/core/send/masked_atomic.h"

#include <errno.h>
#include <string.h>

#define ROUNDS 4000u
#define ALL    (UHCA_ABI_HAS_MASKED_ATOMICS | UHCA_ABI_HAS_MASKED_ATOMIC_SIZES)

static const uint32_t sizes[] = {4, 8, 16, 32};

static bool bit(const struct masked_int *v, uint32_t i)
{
	return v->word[i / 64] >> i % 64 & 1;
}

static void set_bit(struct masked_int *v, uint32_t i, bool on)
{
	v->word[i / 64] &= ~(1ull << i % 64);
	v->word[i / 64] |= (uint64_t)on << i % 64;
}

/* The reference: full adders, whose carry a boundary does not let through. */
static struct masked_int add_bits(const struct masked_atomic *m, const struct masked_int *old)
{
	struct masked_int out = {{0}};
	unsigned carry = 0;

	for (uint32_t i = 0; i < 8 * m->size; i++) {
		unsigned sum = bit(old, i) + bit(&m->add, i) + carry;

		set_bit(&out, i, sum & 1);
		carry = bit(&m->boundary, i) ? 0 : sum >> 1;
	}
	return out;
}

static struct masked_int swap_bits(const struct masked_atomic *m, const struct masked_int *old)
{
	struct masked_int out = {{0}};

	for (uint32_t i = 0; i < 8 * m->size; i++)
		if (bit(&m->compare_mask, i) && bit(old, i) != bit(&m->compare, i))
			return *old;
	for (uint32_t i = 0; i < 8 * m->size; i++)
		set_bit(&out, i, bit(&m->swap_mask, i) ? bit(&m->swap, i) : bit(old, i));
	return out;
}

static void assert_same(const struct masked_int *a, const struct masked_int *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void check(const struct masked_atomic *m, const struct masked_int *old)
{
	struct masked_int expected = m->cas ? swap_bits(m, old) : add_bits(m, old), v = *old;

	assert_true(masked_compute(m, &v) || m->cas);
	assert_same(&v, &expected);
}

/* Many bits, few, one, none, all, or the fields of one width. */
static void random_int(struct prng *r, uint32_t size, struct masked_int *out)
{
	unsigned kind = prng_below(r, 6), width = 1u << prng_below(r, 9);

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < 8 * size; i++) {
		bool on = kind == 0   ? prng_below(r, 2)
			  : kind == 1 ? prng_below(r, 32) == 0
			  : kind == 2 ? true
			  : kind == 3 ? prng_below(r, 32) != 0
				      : kind == 4 && i % width == width - 1;

		set_bit(out, i, on);
	}
}

static void test_random(void **state)
{
	struct prng r = prng_start("masked_atomic");

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct masked_atomic m = {.cas = prng_below(&r, 2), .size = sizes[i % 4]};
		struct masked_int old;

		random_int(&r, m.size, &old);
		for (unsigned k = 0; k < (m.cas ? 4 : 2); k++)
			random_int(&r, m.size, &m.operand[k]);
		if (m.cas && prng_below(&r, 2))
			m.compare = old; /* or it would hardly ever match */
		check(&m, &old);
	}
}

/* All pairs of bytes under all boundaries of a byte, low in the word and across two words. */
static void test_every_byte(void **state)
{
	(void)state;
	for (uint32_t v = 0; v < 1u << 24; v += 61) {
		struct masked_atomic m = {.size = 16};
		struct masked_int old = {{v & 0xff}};

		m.add.word[0] = v >> 8 & 0xff;
		m.boundary.word[0] = v >> 16 & 0xff;
		if (v & 1) {
			old.word[1] = old.word[0] >> 4;
			old.word[0] <<= 60;
			m.add.word[1] = m.add.word[0] >> 4;
			m.add.word[0] <<= 60;
			m.boundary.word[1] = m.boundary.word[0] >> 4;
			m.boundary.word[0] <<= 60;
		}
		check(&m, &old);
	}
}

static struct masked_int ones(uint32_t size)
{
	struct masked_int v = {{0}};

	for (uint32_t i = 0; i < 8 * size; i++)
		set_bit(&v, i, true);
	return v;
}

static void test_edges(void **state)
{
	const struct masked_int zero = {{0}}, one = {{1}};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct masked_int all = ones(sizes[i]), v = all;
		struct masked_atomic add = {.size = sizes[i], .add = one};
		struct masked_atomic cas = {.cas = true, .size = sizes[i], .swap = zero};

		assert_true(masked_compute(&add, &v)); /* one field: wraps to zero */
		assert_same(&v, &zero);
		add.boundary = all; /* each bit a field: exclusive or */
		add.add = v = all;
		assert_true(masked_compute(&add, &v));
		assert_same(&v, &zero);
		v = all;
		assert_true(masked_compute(&cas, &v)); /* nothing is compared, nothing swapped */
		assert_same(&v, &all);
		cas.swap_mask = all;
		assert_true(masked_compute(&cas, &v));
		assert_same(&v, &zero);
		v = all;
		cas.compare_mask = all;
		assert_false(masked_compute(&cas, &v));
		assert_same(&v, &all);
		set_bit(&cas.compare_mask, 8 * sizes[i] - 1, false);
		cas.compare = all;
		set_bit(&cas.compare, 8 * sizes[i] - 1, false); /* not looked at */
		assert_true(masked_compute(&cas, &v));
		assert_same(&v, &zero);
	}
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(masked_sizes(0), 0);
	assert_int_equal(masked_sizes(UHCA_ABI_HAS_MASKED_ATOMIC_SIZES), 0);
	assert_int_equal(masked_sizes(UHCA_ABI_HAS_MASKED_ATOMICS), 8);
	assert_int_equal(masked_sizes(ALL), 4 | 8 | 16 | 32);
	for (uint32_t size = 0; size < 300; size++) {
		assert_int_equal(masked_size_ok(ALL, size),
				 size == 4 || size == 8 || size == 16 || size == 32);
		assert_int_equal(masked_size_ok(UHCA_ABI_HAS_MASKED_ATOMICS, size), size == 8);
		assert_false(masked_size_ok(0, size));
	}
	assert_int_equal(masked_payload(true, 32), MASKED_MAX_PAYLOAD);
	assert_int_equal(masked_payload(false, 8), 16);
}

/* Numbers of C are the host's; on the wire the first byte is the most significant one. */
static void test_byte_orders(void **state)
{
	uint8_t be[32], bytes[32], again[32];
	uint32_t small = 0x01020304;
	uint64_t large = 0x0102030405060708;
	struct masked_int v;

	(void)state;
	masked_load(&small, 4, &v);
	assert_int_equal(v.word[0], small);
	masked_load(&large, 8, &v);
	assert_int_equal(v.word[0], large);
	masked_to_wire(false, 4, (const uint8_t *)(uint32_t[]){small, 0x0a0b0c0d}, be);
	assert_memory_equal(be, "\1\2\3\4\x0a\x0b\x0c\x0d", 8);
	masked_store_be(&v, 8, be);
	assert_memory_equal(be, "\1\2\3\4\5\6\7\10", 8);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(i + 1);
	masked_load_be(bytes, 32, &v);
	assert_int_equal(v.word[3], large);
	assert_int_equal(v.word[0], 0x191a1b1c1d1e1f20);
	masked_store(&v, 32, again);
	masked_to_wire(false, 16, again, be); /* two halves, each turned round */
	assert_int_equal(be[0], again[15]);
	masked_load(again, 32, &v);
	masked_store_be(&v, 32, be);
	assert_memory_equal(be, bytes, 32);
}

/* A request in two pieces of memory. */
static struct core_burst request(uint8_t *payload, uint32_t length)
{
	struct core_burst t = {.count = 1, .length = length, .segment = length, .n_iov = 2};

	t.head.bth.opcode.v = ROCE_RC_MASKED_FETCH_ADD;
	t.head.reth = (struct roce_reth){0x1000, 1, length / 2};
	t.iov[0] = (struct iovec){payload, 3};
	t.iov[1] = (struct iovec){payload + 3, length - 3};
	return t;
}

static void test_parse(void **state)
{
	uint8_t payload[MASKED_MAX_PAYLOAD] = {[7] = 5, [15] = 0x80};
	struct core_burst t = request(payload, 16);
	struct masked_atomic m;

	(void)state;
	assert_true(masked_parse(ALL, &t, &m));
	assert_false(m.cas);
	assert_int_equal(m.size, 8);
	assert_int_equal(m.add.word[0], 5);
	assert_int_equal(m.boundary.word[0], 0x80);
	assert_false(masked_parse(0, &t, &m));
	t.head.bth.opcode.v = ROCE_RC_MASKED_COMPARE_SWAP;
	assert_false(masked_parse(ALL, &t, &m)); /* two operands too few */
	t = request(payload, 16);
	t.head.reth.va |= 4;
	assert_false(masked_parse(ALL, &t, &m));
	t.head.reth.length = 4;
	assert_false(masked_parse(ALL, &t, &m)); /* 16 bytes of operands */
	t = request(payload, 8);
	assert_true(masked_parse(ALL, &t, &m));
	assert_int_equal(m.size, 4);
	assert_int_equal(m.boundary.word[0], 5);
	assert_false(masked_parse(UHCA_ABI_HAS_MASKED_ATOMICS, &t, &m));
	t = request(payload, MASKED_MAX_PAYLOAD);
	assert_false(masked_parse(ALL, &t, &m)); /* of 64 bytes */
	t.head.bth.opcode.v = ROCE_RC_MASKED_COMPARE_SWAP;
	t.head.reth.length = 0;
	assert_false(masked_parse(ALL, &t, &m));
	t.head.reth.length = 32;
	assert_true(masked_parse(ALL, &t, &m));
	assert_true(m.cas);
	masked_load_burst(
		&(struct core_burst){.length = 3, .n_iov = 1, .iov = {{(uint8_t[]){1, 2, 3}, 3}}},
		&m.add);
	assert_int_equal(m.add.word[0], 0x010203);
}

static void test_execute(void **state)
{
	struct masked_atomic m = {.size = 8, .add = {{0x0101}}, .boundary = {{0x80}}};
	struct masked_int original;
	struct vmr gone;
	struct pair p;
	struct qp *qp;
	struct mr *mr;
	uint64_t va;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	qp = device_find_qp(p.a.c.host->dev, p.a.qp.qpn);
	va = p.a.mr.addr + 64;
	assert_int_equal(mr_check(qp->pd, p.a.mr.rkey, va, 8, MR_REMOTE_ATOMIC, &mr), MR_OK);
	side_store(&p.a, 64, 0xff);
	assert_int_equal(masked_execute(qp->dev, mr, va, &m, &original), 0);
	assert_int_equal(original.word[0], 0xff);
	side_expect_u64(&p.a, 64, 0x100);
	m = (struct masked_atomic){.cas = true,
				   .size = 8,
				   .compare_mask = {{1}},
				   .compare = {{1}},
				   .swap_mask = {{UINT64_MAX}}};
	assert_int_equal(masked_execute(qp->dev, mr, va, &m, &original), 0);
	assert_int_equal(original.word[0], 0x100); /* no match */
	assert_int_equal(side_load(&p.a, 64), 0x100);

	va = memory_map(&p.a.c.mem, 4096);
	assert_int_equal(vclient_reg_mr(&p.a.c, va, 4096, PAIR_ACCESS, &gone), 0);
	assert_int_equal(mr_check(qp->pd, gone.rkey, va, 8, MR_REMOTE_ATOMIC, &mr), MR_OK);
	memory_unmap(&p.a.c.mem, va);
	assert_int_equal(masked_execute(qp->dev, mr, va, &m, &original), -EFAULT);
	assert_int_equal(vclient_dereg_mr(&p.a.c, &gone), 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),      cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_edges),       cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_byte_orders), cmocka_unit_test(test_parse),
		cmocka_unit_test(test_execute),
	};

	return cmocka_run_group_tests_name("masked_atomic", tests, NULL, NULL);
}
