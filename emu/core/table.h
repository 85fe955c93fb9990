/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handle table: a number of up to 32 bits names a slot and its generation, so that a handle that
 * outlived its object is refused instead of naming the slot's next tenant. The same table gives
 * out QP numbers and memory keys; "shift" says where the index begins (keys: 8, the low byte is
 * the consumer's).
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include <stdint.h>

struct table_slot {
	void *object;
	uint32_t generation;
	uint32_t next_free;
};

struct table {
	struct table_slot *slot; /* grows by doubling up to max */
	uint32_t size;
	uint32_t max;
	uint32_t used;
	uint32_t first_free;
	uint32_t index_bits; /* the generation stands above */
};

/* index_bits is derived from max. Handle 0 is never given out. */
void table_construct(struct table *t, uint32_t max);
void table_destruct(struct table *t);

/* Puts the object into a free slot; *handle gets its name. 0, -ENOMEM (full or no memory). */
int table_add(struct table *t, void *object, uint32_t *handle);

/* The object, or NULL for a handle that is stale or was never given out. */
void *table_find(const struct table *t, uint32_t handle);

/* Frees the slot; the handle is stale from now on. The handle must be valid. */
void table_remove(struct table *t, uint32_t handle);

/* Iteration over all objects: *cursor starts at 0; NULL at the end. Removing the current is fine.
 */
void *table_next(const struct table *t, uint32_t *cursor);

#endif
