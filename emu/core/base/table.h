/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handle table: a number names a slot and its generation, so that a handle that outlived its
 * object is refused instead of naming the slot's next tenant. The low bits are the slot's index,
 * the generation stands above; the number of bits in all is chosen at construction: 32 for
 * handles, 24 for QP numbers and for what stands above the key byte of a memory key.
 *
 * Neither 0, 1 nor the number of all ones (the multicast QP number) is ever given out. A slot's
 * generations repeat after 2^(bits - index bits) - 2 tenants.
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table_slot {
	void *object;        /* NULL: free */
	uint32_t generation; /* of the tenant, or of the next one */
	uint32_t next_free;
};

struct table {
	struct table_slot *slot; /* grows by doubling up to max */
	uint32_t size;
	uint32_t max;      /* objects; may be lowered, and raised again up to capacity */
	uint32_t capacity; /* slots; what max was at construction */
	uint32_t used;
	uint32_t first_free; /* index, or size when there is none */
	uint32_t index_bits; /* the generation stands above */
	uint32_t generations;
	uint32_t salt; /* where the generations of a fresh slot begin; 0: at 1 */
};

/* 32-bit handles. index_bits is derived from max (at least 1). */
void table_construct(struct table *t, uint32_t max);

/*
 * Handles of "bits" bits, at least 2 more than max needs for its index. An unpredictable salt
 * makes the numbers so.
 */
void table_construct_bits(struct table *t, uint32_t max, uint32_t bits, uint32_t salt);

/* Frees the table's memory; the objects are the caller's. */
void table_destruct(struct table *t);

/* Puts the object into a free slot; *handle gets its name. 0, -ENOMEM (full or no memory). */
int table_add(struct table *t, void *object, uint32_t *handle);

/* The object, or NULL for a handle that is stale or was never given out. */
void *table_find(const struct table *t, uint32_t handle);

/* Frees the slot; the handle is stale from now on. The handle must be valid. */
void table_remove(struct table *t, uint32_t handle);

/*
 * The next object gets this handle again. False when that cannot be: the slot is in use, or
 * another one was freed after it.
 */
bool table_revive(struct table *t, uint32_t handle);

/*
 * The object of slot number "index", NULL where there is none: for an iteration in parts, between
 * which objects come and go. index < t->size.
 */
static inline void *table_at(const struct table *t, uint32_t index)
{
	return t->slot[index].object;
}

/*
 * Iteration over all objects: *cursor starts at 0; NULL at the end. Removing the current is fine.
 */
void *table_next(const struct table *t, uint32_t *cursor);

#endif
