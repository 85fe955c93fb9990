/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See mapped.h. The C library's memcpy may store the last bytes of a short piece before the first
 * (two stores that overlap), so that the end of a write, and all of a short one, is stored here by
 * hand: naturally aligned words, in ascending order.
 */
#include "mapped.h"

#include <stdint.h>
#include <string.h>

#define SMALL 8 /* bytes that are stored in one go */

bool io_mapped_all(const struct core_span *spans, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (spans[i].space != CORE_SPACE_DEVICE)
			return false;
	return true;
}

void io_mapped_read(const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;

	for (unsigned i = 0; i < n; i++) {
		const void *piece = (const void *)(uintptr_t)from[i].addr;

		if (from[i].length == SMALL)
			memcpy(at, piece, SMALL);
		else
			memcpy(at, piece, from[i].length);
		at += from[i].length;
	}
}

/* ---- stores ---- */

static void store_2(uint8_t *to, const uint8_t *from)
{
	uint16_t v;

	memcpy(&v, from, sizeof(v));
	__atomic_store_n((uint16_t *)(void *)to, v, __ATOMIC_RELEASE);
}

static void store_4(uint8_t *to, const uint8_t *from)
{
	uint32_t v;

	memcpy(&v, from, sizeof(v));
	__atomic_store_n((uint32_t *)(void *)to, v, __ATOMIC_RELEASE);
}

static void store_8(uint8_t *to, const uint8_t *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof(v));
	__atomic_store_n((uint64_t *)(void *)to, v, __ATOMIC_RELEASE);
}

/* The largest word that fits the place and the rest; its size. */
static size_t store_word(uint8_t *to, const uint8_t *from, size_t left)
{
	uintptr_t at = (uintptr_t)to;

	if (left >= 8 && at % 8 == 0) {
		store_8(to, from);
		return 8;
	}
	if (left >= 4 && at % 4 == 0) {
		store_4(to, from);
		return 4;
	}
	if (left >= 2 && at % 2 == 0) {
		store_2(to, from);
		return 2;
	}
	__atomic_store_n(to, *from, __ATOMIC_RELEASE);
	return 1;
}

void io_mapped_store(void *to, const void *from, size_t length)
{
	uint8_t *at = to;
	const uint8_t *p = from;

	if (length > SMALL) {
		memcpy(to, from, length);
		return;
	}
	while (length > 0) {
		size_t n = store_word(at, p, length);

		at += n;
		p += n;
		length -= n;
	}
}

/* ---- a write ---- */

/* The source of a write. */
struct source {
	const struct iovec *iov;
	size_t skip; /* bytes of *iov that are done */
};

/* The next bytes of the source that stand together, up to "want", which is not 0. */
static const uint8_t *next_piece(struct source *s, size_t want, size_t *length)
{
	const uint8_t *p;

	while (s->skip == s->iov->iov_len) {
		s->iov++;
		s->skip = 0;
	}
	p = (const uint8_t *)s->iov->iov_base + s->skip;
	*length = s->iov->iov_len - s->skip < want ? s->iov->iov_len - s->skip : want;
	s->skip += *length;
	return p;
}

/* The next bytes, up to SMALL, in one place. */
static void gather(struct source *s, uint8_t out[SMALL], size_t length)
{
	for (size_t at = 0, n; at < length; at += n) {
		const uint8_t *p = next_piece(s, length - at, &n);

		memcpy(out + at, p, n);
	}
}

/* A short span gets its words whole, even where the source is in two places. */
static void write_span(uint8_t *to, size_t length, struct source *s)
{
	if (length <= SMALL) {
		uint8_t word[SMALL];

		gather(s, word, length);
		io_mapped_store(to, word, length);
		return;
	}
	while (length > 0) {
		size_t n;
		const uint8_t *p = next_piece(s, length, &n);

		memcpy(to, p, n);
		to += n;
		length -= n;
	}
}

/* Bytes that are to become visible last: up to the last multiple of 8 before the end. */
static size_t tail_bytes(const struct core_span *last)
{
	size_t tail = (last->addr + last->length) % SMALL;

	if (tail == 0)
		tail = SMALL;
	return tail < last->length ? tail : last->length;
}

void io_mapped_write(const struct core_span *to, unsigned n, const struct iovec *from)
{
	struct source s = {from, 0};
	size_t tail;
	uint8_t *last;

	while (n > 0 && to[n - 1].length == 0)
		n--;
	if (n == 0)
		return;
	for (unsigned i = 0; i + 1 < n; i++)
		write_span((uint8_t *)(uintptr_t)to[i].addr, to[i].length, &s);
	tail = tail_bytes(&to[n - 1]);
	last = (uint8_t *)(uintptr_t)to[n - 1].addr;
	write_span(last, to[n - 1].length - tail, &s);
	write_span(last + (to[n - 1].length - tail), tail, &s);
}
