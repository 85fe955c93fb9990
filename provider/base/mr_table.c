/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open addressing with linear probing. A key is a handle shifted by eight, and the low bits of
 * live handles differ, so that the key's bits from 8 on are a good hash as they are.
 */
#include "mr_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define FIRST_SLOTS 64u
#define EMPTY       0u
#define FREED       1u

static uint32_t home(uint32_t lkey)
{
	return lkey >> 8;
}

static struct uhcav_mr_slots *new_slots(uint32_t n)
{
	struct uhcav_mr_slots *s = calloc(1, sizeof(*s) + (size_t)n * sizeof(s->slot[0]));

	if (s)
		s->mask = n - 1;
	return s;
}

void uhcav_mr_table_construct(struct uhcav_mr_table *t)
{
	t->slots = NULL;
	t->used = 0;
	t->live = 0;
	pthread_mutex_init(&t->lock, NULL);
}

void uhcav_mr_table_destruct(struct uhcav_mr_table *t)
{
	while (t->slots) {
		struct uhcav_mr_slots *older = t->slots->older;
		free(t->slots);
		t->slots = older;
	}
	pthread_mutex_destroy(&t->lock);
}

/* Takes an empty or freed slot; returns true when it was empty before. */
static bool enter(struct uhcav_mr_slots *s, const struct uhcav_region *r)
{
	uint32_t i = home(r->lkey) & s->mask;
	bool fresh;

	while (s->slot[i].lkey > FREED)
		i = (i + 1) & s->mask;
	fresh = s->slot[i].lkey == EMPTY;
	__atomic_store_n(&s->slot[i].iova, r->iova, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].length, r->length, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].addr, r->addr, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].flags, r->flags, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].pinned, r->pinned, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].pinned_end, r->pinned_end, __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot[i].lkey, r->lkey, __ATOMIC_RELEASE);
	return fresh;
}

/* Copies the live regions to a table in which they take up a quarter at the most. */
static int grow(struct uhcav_mr_table *t)
{
	struct uhcav_mr_slots *old = t->slots;
	uint32_t n = FIRST_SLOTS;
	struct uhcav_mr_slots *s;

	while (n / 4 <= t->live)
		n *= 2;
	s = new_slots(n);
	if (!s)
		return -ENOMEM;
	t->used = 0;
	for (uint32_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i].lkey > FREED)
			t->used += enter(s, &old->slot[i]);
	s->older = old;
	__atomic_store_n(&t->slots, s, __ATOMIC_RELEASE);
	return 0;
}

int uhcav_mr_table_reserve(struct uhcav_mr_table *t)
{
	int err = 0;

	pthread_mutex_lock(&t->lock);
	/* Concurrent callers reserve one each: leave more than enough free. */
	if (!t->slots || t->used >= t->slots->mask / 2)
		err = grow(t);
	pthread_mutex_unlock(&t->lock);
	return err;
}

void uhcav_mr_table_add(struct uhcav_mr_table *t, const struct uhcav_region *r)
{
	pthread_mutex_lock(&t->lock);
	t->used += enter(t->slots, r);
	t->live++;
	pthread_mutex_unlock(&t->lock);
}

static uint32_t *key_of(struct uhcav_mr_slots *s, uint32_t i)
{
	return &s->slot[i & s->mask].lkey;
}

/*
 * A freed slot in front of an empty one may be empty itself: a search that passes it ends at the
 * next. Without this, a program that registers and deregisters for ever would fill the table.
 */
static uint32_t sweep(struct uhcav_mr_slots *s, uint32_t i)
{
	uint32_t swept = 0;

	while (*key_of(s, i) == FREED && *key_of(s, i + 1) == EMPTY) {
		__atomic_store_n(key_of(s, i), EMPTY, __ATOMIC_RELEASE);
		swept++;
		i--;
	}
	return swept;
}

void uhcav_mr_table_remove(struct uhcav_mr_table *t, uint32_t lkey)
{
	struct uhcav_mr_slots *s;
	uint32_t i = home(lkey);

	pthread_mutex_lock(&t->lock);
	s = t->slots;
	while (s && *key_of(s, i) != EMPTY && *key_of(s, i) != lkey)
		i++;
	if (s && lkey > FREED && *key_of(s, i) == lkey) {
		__atomic_store_n(key_of(s, i), FREED, __ATOMIC_RELEASE);
		t->live--;
		t->used -= sweep(s, i);
	}
	pthread_mutex_unlock(&t->lock);
}

/* The slot's range, if it still holds lkey after it was read. *device: it is for the device. */
static const void *range(const struct uhcav_region *r, uint32_t lkey, uint64_t iova,
			 uint64_t length, bool *device)
{
	uint64_t from = __atomic_load_n(&r->pinned, __ATOMIC_RELAXED);
	uint64_t end = __atomic_load_n(&r->pinned_end, __ATOMIC_RELAXED);
	uint64_t base = __atomic_load_n(&r->iova, __ATOMIC_RELAXED);
	uint64_t size = __atomic_load_n(&r->length, __ATOMIC_RELAXED);
	uint64_t addr = __atomic_load_n(&r->addr, __ATOMIC_RELAXED);
	uint64_t offset = iova - base;

	*device = (__atomic_load_n(&r->flags, __ATOMIC_ACQUIRE) & UHCAV_REGION_ON_DEMAND) ||
		  (addr + offset >= from && addr + offset < end);
	if (__atomic_load_n(&r->lkey, __ATOMIC_RELAXED) != lkey)
		return NULL;
	if (offset > size || length > size - offset)
		return NULL;
	return (const void *)(uintptr_t)(addr + offset);
}

static const void *search(const struct uhcav_mr_table *t, uint32_t lkey, uint64_t iova,
			  uint64_t length, bool *device)
{
	const struct uhcav_mr_slots *s = __atomic_load_n(&t->slots, __ATOMIC_ACQUIRE);
	uint32_t i = home(lkey);

	if (!s || lkey <= FREED)
		return NULL;
	for (;; i++) {
		const struct uhcav_region *r = &s->slot[i & s->mask];
		uint32_t key = __atomic_load_n(&r->lkey, __ATOMIC_ACQUIRE);
		if (key == lkey)
			return range(r, lkey, iova, length, device);
		if (key == EMPTY)
			return NULL;
	}
}

const void *uhcav_mr_table_find(const struct uhcav_mr_table *t, uint32_t lkey, uint64_t iova,
				uint64_t length)
{
	bool device = false;
	const void *at = search(t, lkey, iova, length, &device);

	return device ? NULL : at;
}

const void *uhcav_mr_table_locate(const struct uhcav_mr_table *t, uint32_t lkey, uint64_t iova,
				  uint64_t length)
{
	bool device;

	return search(t, lkey, iova, length, &device);
}

static bool overlaps(const struct uhcav_region *r, uint64_t addr, uint64_t length)
{
	return r->lkey > FREED && (addr - r->addr < r->length || r->addr - addr < length);
}

bool uhcav_mr_table_overlaps(struct uhcav_mr_table *t, uint64_t addr, uint64_t length)
{
	bool found = false;

	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; t->slots && i <= t->slots->mask && !found; i++)
		found = overlaps(&t->slots->slot[i], addr, length);
	pthread_mutex_unlock(&t->lock);
	return found;
}
