/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See mapped.h. The C library's memcpy may store the last bytes of a short piece before the first
 * (two stores that overlap), so that the end of a write, and all of a short one, is stored here by
 * hand: naturally aligned words, in ascending order.
 */
#include "mapped.h"

#include "batch.h"

#include <stdint.h>
#include <string.h>

#define SMALL 8    /* bytes that are stored in one go */
#define AHEAD 16   /* pieces that are on their way from memory */
#define PAGE  4096 /* bytes */
#define FEW   32   /* bytes, see is_slow */
#define RUN   2048 /* bytes that the C library copies without "rep movsb" */

bool io_mapped_all(const struct core_span *spans, unsigned n)
{
	uint32_t other = 0; /* many short ones: no branch for each */

	for (unsigned i = 0; i < n; i++)
		other |= spans[i].space ^ (uint32_t)CORE_SPACE_DEVICE;
	return !other;
}

/*
 * Short pieces that are far apart wait for memory, one after another; asked for in time, they come
 * together.
 */
static void prefetch_ahead(const struct core_span *spans, unsigned i, unsigned n)
{
	if (i + AHEAD < n)
		__builtin_prefetch((const void *)(uintptr_t)spans[i + AHEAD].addr);
}

/*
 * Where the destination lies a few bytes further in its page than the source in its own, "rep
 * movsb", which the C library takes for 4 KiB and more, is twenty times slower on some processors
 * (Zen 3: 2 GB/s in place of 45). There, and only there, runs are better: 13.
 */
static bool is_slow(uintptr_t to, uintptr_t from, size_t length)
{
	size_t further = (to - from) % PAGE;

	return length > RUN && further > 0 && further < FEW;
}

/* Both may be of one region, and overlap. */
static void copy_run(void *to, const void *from, size_t length)
{
	uint8_t *t = to;
	const uint8_t *f = from;
	size_t n;

	if (!is_slow((uintptr_t)t, (uintptr_t)f, length) || (uintptr_t)t - (uintptr_t)f < length ||
	    (uintptr_t)f - (uintptr_t)t < length) {
		memmove(t, f, length);
		return;
	}
	for (; length > 0; length -= n, t += n, f += n) {
		n = length < RUN ? length : RUN;
		memcpy(t, f, n);
	}
}

/* Elements of columns: the compiler makes these copies a few instructions. */
static void copy_piece(void *to, const void *from, size_t length)
{
	if (length == 8)
		memcpy(to, from, 8);
	else if (length == 64)
		memcpy(to, from, 64);
	else
		copy_run(to, from, length);
}

void io_mapped_read(const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;

	for (unsigned i = 0; i < n; i++) {
		prefetch_ahead(from, i, n);
		copy_piece(at, (const void *)(uintptr_t)from[i].addr, from[i].length);
		at += from[i].length;
	}
}

/* The compiler makes each call of it a loop of its own: length is a number there. */
static inline void gather_row(uint8_t *to, const struct core_row *r, size_t length)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)r->addr;

	for (uint32_t i = 0; i < r->count; i++, to += length, from += r->stride)
		memcpy(to, from, length);
}

void io_mapped_read_row(const struct core_row *from, void *to)
{
	if (from->length == 4)
		gather_row(to, from, 4);
	else if (from->length == 8)
		gather_row(to, from, 8);
	else if (from->length == 16)
		gather_row(to, from, 16);
	else if (from->length == 64)
		gather_row(to, from, 64);
	else
		for (uint32_t i = 0; i < from->count; i++)
			copy_piece((uint8_t *)to + (size_t)i * from->length,
				   (const uint8_t *)(uintptr_t)from->addr + from->stride * i,
				   from->length);
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
		copy_run(to, from, length);
		return;
	}
	if (length == 8 && (uintptr_t)to % 8 == 0) {
		store_8(at, p);
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

/* The bytes behind the next "skip" ones; the source stays where it is. */
static void copy_end(const struct source *from, size_t skip, uint8_t out[SMALL], size_t length)
{
	struct source s = *from;

	while (skip > 0) {
		size_t n;

		next_piece(&s, skip, &n);
		skip -= n;
	}
	gather(&s, out, length);
}

/* The source is in several places. A short span gets its words whole all the same. */
static void write_pieces(uint8_t *to, size_t length, struct source *s)
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

		copy_piece(to, p, n);
		to += n;
		length -= n;
	}
}

/* As many spans as the next piece of the source fills; their number. */
static unsigned write_whole(const struct core_span *to, unsigned n, struct source *s)
{
	const uint8_t *p = (const uint8_t *)s->iov->iov_base + s->skip;
	size_t left = s->iov->iov_len - s->skip;
	unsigned i;

	for (i = 0; i < n && to[i].length <= left; i++) {
		void *at = (void *)(uintptr_t)to[i].addr;

		prefetch_ahead(to, i, n);
		if (to[i].length == SMALL && (uintptr_t)at % SMALL == 0)
			store_8(at, p);
		else if (to[i].length > SMALL)
			copy_piece(at, p, to[i].length);
		else
			io_mapped_store(at, p, to[i].length);
		p += to[i].length;
		left -= to[i].length;
	}
	s->skip = s->iov->iov_len - left;
	return i;
}

/* The last span of a write. */
static void write_last(const struct core_span *span, struct source *s)
{
	uint8_t *to = (uint8_t *)(uintptr_t)span->addr, word[SMALL];
	size_t tail = io_batch_tail(span->addr, span->length), body = span->length - tail;

	copy_end(s, body, word, tail); /* what is stored now may be its source */
	write_pieces(to, body, s);
	io_mapped_store(to + body, word, tail);
}

void io_mapped_write(const struct core_span *to, unsigned n, const struct iovec *from)
{
	struct source s = {from, 0};

	while (n > 0 && to[n - 1].length == 0)
		n--;
	if (n == 0)
		return;
	for (unsigned i = 0; i + 1 < n;) {
		i += write_whole(to + i, n - 1 - i, &s);
		if (i + 1 < n) {
			write_pieces((uint8_t *)(uintptr_t)to[i].addr, to[i].length, &s);
			i++;
		}
	}
	write_last(&to[n - 1], &s);
}

/* ---- a row ---- */

static bool is_aligned(const struct core_row *r, uint64_t to)
{
	return (r->addr | (uint64_t)r->stride) % to == 0;
}

/* As many pieces, up to n, as the next piece of the source fills; their number. */
static uint32_t scatter_some(uint8_t *to, const struct core_row *r, uint32_t n, struct source *s)
{
	const uint8_t *from = (const uint8_t *)s->iov->iov_base + s->skip;
	size_t left = (s->iov->iov_len - s->skip) / r->length;

	if (n > left)
		n = (uint32_t)left;
	if (r->length == 8 && is_aligned(r, 8))
		for (uint32_t i = 0; i < n; i++, to += r->stride)
			store_8(to, from + (size_t)i * 8);
	else if (r->length == 4 && is_aligned(r, 4))
		for (uint32_t i = 0; i < n; i++, to += r->stride)
			store_4(to, from + (size_t)i * 4);
	else if (r->length > SMALL)
		for (uint32_t i = 0; i < n; i++, to += r->stride)
			copy_piece(to, from + (size_t)i * r->length, r->length);
	else
		for (uint32_t i = 0; i < n; i++, to += r->stride)
			io_mapped_store(to, from + (size_t)i * r->length, r->length);
	s->skip += (size_t)n * r->length;
	return n;
}

/* The first n pieces of the row. */
static void scatter_row(const struct core_row *r, uint32_t n, struct source *s)
{
	uint8_t *to = (uint8_t *)(uintptr_t)r->addr;

	for (uint32_t i = 0, got; i < n; i += got, to += r->stride * got) {
		got = scatter_some(to, r, n - i, s);
		if (!got) {
			write_pieces(to, r->length, s);
			got = 1;
		}
	}
}

void io_mapped_write_row(const struct core_row *to, const struct iovec *from)
{
	uint64_t end = to->addr + (uint64_t)to->stride * (to->count - 1);
	struct source s = {from, 0};

	scatter_row(to, to->count - 1, &s);
	write_last(&(struct core_span){end, to->length, CORE_SPACE_DEVICE}, &s);
}
