/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handle table. Free slots form a chain through next_free, last freed first, so that a device
 * with few objects keeps a small table; the generation is what tells tenants of a slot apart.
 */
#include "table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 16u

static uint32_t bits_for(uint32_t max)
{
	uint32_t bits = 1;
	while (bits < 31 && (1u << bits) < max)
		bits++;
	return bits;
}

void table_construct_bits(struct table *t, uint32_t max, uint32_t bits, uint32_t salt)
{
	memset(t, 0, sizeof(*t));
	t->max = t->capacity = max;
	t->index_bits = bits_for(max);
	assert(bits <= 32 && bits >= t->index_bits + 2);
	/* Without the first and the last: no handle is 0, 1 or all ones. */
	t->generations = (uint32_t)((1ull << (bits - t->index_bits)) - 2);
	t->salt = salt;
}

void table_construct(struct table *t, uint32_t max)
{
	table_construct_bits(t, max, 32, 0);
}

void table_destruct(struct table *t)
{
	free(t->slot);
	t->slot = NULL;
	t->size = t->used = t->first_free = 0;
}

/* Neighbouring slots should not begin alike: an odd multiplier spreads the index. */
static uint32_t fresh_generation(const struct table *t, uint32_t index)
{
	uint32_t start = t->salt ? t->salt + index * 0x9e3779b1u : 0;
	return 1 + (start >> 4) % t->generations;
}

static int grow(struct table *t)
{
	uint32_t size = t->size ? t->size : FIRST_SIZE / 2;
	size = size > t->capacity / 2 ? t->capacity : size * 2;
	if (size == t->size)
		return -ENOMEM;
	struct table_slot *slot = realloc(t->slot, (size_t)size * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (uint32_t i = t->size; i < size; i++)
		slot[i] = (struct table_slot){NULL, fresh_generation(t, i), i + 1};
	t->slot = slot;
	t->size = size;
	return 0;
}

int table_add(struct table *t, void *object, uint32_t *handle)
{
	if (t->used >= t->max)
		return -ENOMEM;
	if (t->first_free == t->size) {
		int err = grow(t);
		if (err)
			return err;
	}
	uint32_t index = t->first_free;
	struct table_slot *s = &t->slot[index];
	/* The chain of a grown table ends at its old size, which is where the new slots begin. */
	t->first_free = s->next_free;
	s->object = object;
	t->used++;
	*handle = s->generation << t->index_bits | index;
	return 0;
}

static struct table_slot *find_slot(const struct table *t, uint32_t handle)
{
	uint32_t index = handle & ((1u << t->index_bits) - 1);
	if (index >= t->size)
		return NULL;
	struct table_slot *s = &t->slot[index];
	return s->generation == handle >> t->index_bits ? s : NULL;
}

void *table_find(const struct table *t, uint32_t handle)
{
	const struct table_slot *s = find_slot(t, handle);
	return s ? s->object : NULL;
}

void table_remove(struct table *t, uint32_t handle)
{
	struct table_slot *s = find_slot(t, handle);
	assert(s && s->object);
	s->object = NULL;
	s->generation = s->generation % t->generations + 1;
	s->next_free = t->first_free;
	t->first_free = (uint32_t)(s - t->slot);
	t->used--;
}

bool table_revive(struct table *t, uint32_t handle)
{
	uint32_t index = handle & ((1u << t->index_bits) - 1);
	uint32_t generation = handle >> t->index_bits;

	if (index >= t->size || index != t->first_free || generation == 0 ||
	    generation > t->generations)
		return false;
	t->slot[index].generation = generation;
	return true;
}

void *table_next(const struct table *t, uint32_t *cursor)
{
	while (*cursor < t->size) {
		void *object = t->slot[(*cursor)++].object;
		if (object)
			return object;
	}
	return NULL;
}
