/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See memory.h. Areas are few, so everything here is a linear search. Most of an area is never
 * reached: a block of it gets its bytes and its image when something reaches it, and only such
 * blocks are compared. What the device stores goes through here, wherever it stores.
 */
#include "memory.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE       4096u
#define POOL       (32u << 10)
#define GUARD      48u
#define PATTERN    65521u /* a prime: data that slips by whole packets does not match */
#define PATTERN_AT 4096u  /* table overlap, so that a piece is compared with few calls */
#define BLOCK      1024u

static const uint8_t *pattern_table(void)
{
	static uint8_t table[PATTERN + PATTERN_AT];
	static bool made;

	if (!made) {
		prng_fill(&(struct prng){PATTERN}, table, PATTERN);
		memcpy(table + PATTERN, table, PATTERN_AT);
		made = true;
	}
	return table;
}

uint8_t memory_pattern_byte(uint64_t offset)
{
	return pattern_table()[offset % PATTERN];
}

static void pattern_read(uint64_t offset, uint8_t *to, uint32_t len)
{
	while (len) {
		uint32_t at = (uint32_t)(offset % PATTERN);
		uint32_t n = PATTERN + PATTERN_AT - at;

		n = n < len ? n : len;
		memcpy(to, pattern_table() + at, n);
		to += n;
		offset += n;
		len -= n;
	}
}

void memory_construct(struct memory *m, uint32_t window, uint64_t seed)
{
	memset(m, 0, sizeof *m);
	m->next_va = ((uint64_t)window + 1) << 40;
	m->rng = (struct prng){seed};
}

static void area_destruct(struct memory_area *a)
{
	free(a->host);
	free(a->expect);
	free(a->ignore);
	free(a->reached);
}

void memory_destruct(struct memory *m)
{
	for (unsigned i = 0; i < m->n_areas; i++)
		area_destruct(&m->area[i]);
	free(m->area);
	free(m->grant);
	memset(m, 0, sizeof *m);
}

static struct memory_area *area_add(struct memory *m, uint64_t size)
{
	struct memory_area *a;

	m->area = realloc(m->area, (m->n_areas + 1) * sizeof *m->area);
	assert(m->area);
	a = &m->area[m->n_areas++];
	memset(a, 0, sizeof *a);
	a->va = m->next_va;
	a->size = size;
	m->next_va += ((size + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
	return a;
}

uint64_t memory_map(struct memory *m, uint64_t size)
{
	struct memory_area *a = area_add(m, size);

	/* malloc, not one byte more: a sanitizer sees what runs over. */
	a->host = malloc(size ? size : 1);
	a->expect = malloc(size ? size : 1);
	a->ignore = malloc(size ? size : 1);
	a->reached = calloc(1, size / BLOCK + 1);
	assert(a->host && a->expect && a->ignore && a->reached);
	a->start = prng_below(&m->rng, PATTERN);
	return a->va;
}

void memory_map_at(struct memory *m, uint64_t va, uint64_t size)
{
	uint64_t next = m->next_va;

	assert(!memory_find(m, va, 1));
	m->next_va = va;
	memory_map(m, size);
	m->next_va = next;
}

uint64_t memory_map_pattern(struct memory *m, uint64_t size)
{
	return area_add(m, size)->va;
}

void memory_unmap(struct memory *m, uint64_t va)
{
	for (unsigned i = 0; i < m->n_areas; i++)
		if (m->area[i].va == va) {
			area_destruct(&m->area[i]);
			m->area[i] = m->area[--m->n_areas];
			return;
		}
	assert(!"memory_unmap: no such area");
}

static uint64_t alloc_from(struct memory_area *a, uint64_t size, uint64_t align)
{
	uint64_t at = (a->va + a->used + GUARD + align - 1) & ~(align - 1);

	if (!a->pool || at + size + GUARD > a->va + a->size)
		return 0;
	a->used = at + size - a->va;
	return at;
}

uint64_t memory_alloc(struct memory *m, uint64_t size, uint64_t align)
{
	uint64_t need = size + align + 2 * GUARD, va = 0;

	if (m->n_areas)
		va = alloc_from(&m->area[m->n_areas - 1], size, align);
	if (!va) {
		memory_map(m, need > POOL ? need : POOL);
		m->area[m->n_areas - 1].pool = true;
		va = alloc_from(&m->area[m->n_areas - 1], size, align);
	}
	assert(va);
	return va;
}

struct memory_area *memory_find(struct memory *m, uint64_t va, uint64_t len)
{
	for (unsigned i = 0; i < m->n_areas; i++) {
		struct memory_area *a = &m->area[i];

		if (va >= a->va && va - a->va <= a->size && len <= a->size - (va - a->va))
			return a;
	}
	return NULL;
}

static void block_make(struct memory_area *a, uint64_t block)
{
	uint64_t at = block * BLOCK, left = a->size - at;
	uint32_t n = left < BLOCK ? (uint32_t)left : BLOCK;

	pattern_read(a->start + at, a->host + at, n);
	memcpy(a->expect + at, a->host + at, n);
	memset(a->ignore + at, 0, n);
	a->reached[block] = 1;
}

/* Offset of va in its area; from there on len bytes are there and are looked at. */
static uint64_t reach(struct memory_area *a, uint64_t va, uint64_t len)
{
	uint64_t at = va - a->va;

	if (!a->reached) /* device memory, or a pattern */
		return at;
	for (uint64_t i = at / BLOCK; len && i <= (at + len - 1) / BLOCK; i++)
		if (!a->reached[i])
			block_make(a, i);
	return at;
}

uint8_t *memory_at(struct memory *m, uint64_t va, uint64_t len)
{
	struct memory_area *a = memory_find(m, va, len);

	return a && a->host ? a->host + reach(a, va, len) : NULL;
}

uint8_t *memory_expected(struct memory *m, uint64_t va, uint64_t len)
{
	struct memory_area *a = memory_find(m, va, len);

	return a && a->host ? a->expect + reach(a, va, len) : NULL;
}

void memory_store(struct memory *m, uint64_t va, const void *src, uint64_t len)
{
	uint8_t *p = memory_at(m, va, len);

	assert(p);
	memcpy(p, src, len);
	memory_expect(m, va, src, len);
}

void memory_expect(struct memory *m, uint64_t va, const void *src, uint64_t len)
{
	uint8_t *p = memory_expected(m, va, len);

	assert(p);
	memcpy(p, src, len);
}

void memory_ignore(struct memory *m, uint64_t va, uint64_t len, bool on)
{
	struct memory_area *a = memory_find(m, va, len);

	assert(a && a->host);
	memset(a->ignore + reach(a, va, len), on, len);
}

static bool block_verify(const struct memory_area *a, uint64_t block, char *why, size_t size)
{
	uint64_t at = block * BLOCK, end = a->size - at < BLOCK ? a->size : at + BLOCK;

	if (!memcmp(a->host + at, a->expect + at, end - at))
		return true;
	for (uint64_t i = at; i < end; i++)
		if (a->host[i] != a->expect[i] && !a->ignore[i]) {
			snprintf(why, size, "memory at 0x%" PRIx64 " is %02x, expected %02x",
				 a->va + i, a->host[i], a->expect[i]);
			return false;
		}
	return true;
}

static bool area_verify(const struct memory_area *a, char *why, size_t size)
{
	const uint8_t *end = a->reached + a->size / BLOCK + 1, *r = a->reached;

	while ((r = memchr(r, 1, (size_t)(end - r)))) {
		if (!block_verify(a, (uint64_t)(r - a->reached), why, size))
			return false;
		r++;
	}
	return true;
}

bool memory_verify(const struct memory *m, char *why, size_t size)
{
	if (m->strays) {
		snprintf(why, size, "%u stray accesses, first: %s", m->strays, m->stray);
		return false;
	}
	for (unsigned i = 0; i < m->n_areas; i++) {
		const struct memory_area *a = &m->area[i];

		if (a->host && !area_verify(a, why, size))
			return false;
		if (a->mismatches) {
			snprintf(why, size, "%" PRIu64 " bytes of a pattern area are wrong",
				 a->mismatches);
			return false;
		}
	}
	return true;
}

static void grant_add(struct memory *m, const struct memory_grant *g)
{
	if (m->n_grants == m->grant_room) {
		m->grant_room = m->grant_room ? m->grant_room * 2 : 16;
		m->grant = realloc(m->grant, m->grant_room * sizeof *m->grant);
		assert(m->grant);
	}
	m->grant[m->n_grants++] = *g;
}

void memory_grant_add(struct memory *m, uint32_t key, uint64_t va, uint64_t length, bool write)
{
	grant_add(m, &(struct memory_grant){va, length, key, write, CORE_SPACE_CLIENT});
}

void memory_grant_device(struct memory *m, uint32_t key, void *base, uint64_t length, bool write)
{
	grant_add(m,
		  &(struct memory_grant){(uintptr_t)base, length, key, write, CORE_SPACE_DEVICE});
}

void memory_grant_remove(struct memory *m, uint32_t key)
{
	for (unsigned i = 0; i < m->n_grants; i++)
		if (m->grant[i].key == key) {
			m->grant[i] = m->grant[--m->n_grants];
			return;
		}
	assert(!"memory_grant_remove: no such key");
}

static bool granted(const struct memory *m, const struct core_span *s, bool write)
{
	for (unsigned i = 0; i < m->n_grants; i++) {
		const struct memory_grant *g = &m->grant[i];

		if (s->space == g->space && s->addr >= g->va && s->addr - g->va <= g->length &&
		    s->length <= g->length - (s->addr - g->va) && (g->write || !write))
			return true;
	}
	return false;
}

/*
 * The area a span lies in; NULL: it must be answered with -EFAULT. Device memory has none: then
 * *device is made one.
 */
static struct memory_area *check_span(struct memory *m, const struct core_span *s, bool write,
				      struct memory_area *device)
{
	if (!granted(m, s, write)) {
		if (!m->strays++)
			snprintf(m->stray, sizeof m->stray,
				 "%s of %u bytes at 0x%" PRIx64 " (space %u): nothing registered",
				 write ? "write" : "read", s->length, s->addr, s->space);
		return NULL;
	}
	if (s->space == CORE_SPACE_CLIENT)
		return memory_find(m, s->addr, s->length);
	*device = (struct memory_area){
		.va = s->addr, .size = s->length, .host = (uint8_t *)(uintptr_t)s->addr};
	return device;
}

static void pattern_write(struct memory_area *a, uint64_t offset, const uint8_t *from, uint32_t len)
{
	a->written += len;
	while (len) {
		uint32_t at = (uint32_t)(offset % PATTERN);
		uint32_t n = PATTERN + PATTERN_AT - at;

		n = n < len ? n : len;
		if (memcmp(from, pattern_table() + at, n))
			a->mismatches += n;
		from += n;
		offset += n;
		len -= n;
	}
}

static bool is_silent(struct memory *m)
{
	if (m->silent_from) {
		m->silent_from--;
		return false;
	}
	return m->silent && m->silent--;
}

int memory_read(struct memory *m, const struct core_span *from, unsigned n, void *to)
{
	uint8_t *p = to;

	if (is_silent(m))
		return -ESRCH;
	for (unsigned i = 0; i < n; i++) {
		struct memory_area device, *a = check_span(m, &from[i], false, &device);

		if (!a)
			return -EFAULT;
		if (a->host)
			memcpy(p, a->host + reach(a, from[i].addr, from[i].length), from[i].length);
		else
			pattern_read(from[i].addr - a->va, p, from[i].length);
		p += from[i].length;
	}
	return 0;
}

/* Where a list of iovecs has got to. */
struct iov_cursor {
	const struct iovec *iov;
	unsigned n;
	size_t offset;
};

static void write_span(struct memory_area *a, uint64_t offset, uint32_t left, struct iov_cursor *c)
{
	while (left) {
		const uint8_t *from;
		size_t n;

		assert(c->n && "mem_write: iovecs are shorter than spans");
		from = (const uint8_t *)c->iov->iov_base + c->offset;
		n = c->iov->iov_len - c->offset;
		n = n < left ? n : left;
		if (n && a->host)
			memcpy(a->host + offset, from, n);
		else if (n)
			pattern_write(a, offset, from, (uint32_t)n);
		offset += n;
		left -= (uint32_t)n;
		c->offset += n;
		if (c->offset == c->iov->iov_len) {
			c->iov++;
			c->n--;
			c->offset = 0;
		}
	}
}

int memory_write(struct memory *m, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from)
{
	struct iov_cursor c = {from, n_from, 0};
	struct memory_area device, *a;
	size_t spans = 0, iovs = 0;

	if (is_silent(m))
		return -ESRCH;
	for (unsigned i = 0; i < n; i++)
		spans += to[i].length;
	for (unsigned i = 0; i < n_from; i++)
		iovs += from[i].iov_len;
	assert(spans == iovs && "mem_write: both lists have the same total length");
	for (unsigned i = 0; i < n; i++) {
		a = check_span(m, &to[i], true, &device);
		if (!a)
			return -EFAULT;
		write_span(a, reach(a, to[i].addr, to[i].length), to[i].length, &c);
	}
	return 0;
}
