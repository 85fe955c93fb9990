/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is given back all at once, and arrays that grow. */
#ifndef MODEL_ARENA_H
#define MODEL_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* All zeros: empty. */
struct arena {
	struct arena_chunk *chunk;
	size_t used; /* of the first chunk */
	size_t size;
};

/* n bytes aligned for anything, until arena_free; NULL when there is no memory. */
void *arena_take(struct arena *a, size_t n);

/* A copy of the n bytes at p with a NUL behind it; NULL when there is no memory. */
char *arena_text(struct arena *a, const void *p, size_t n);

void arena_free(struct arena *a);

/*
 * Room for one more element in an array that came from here or is NULL: array has n elements of
 * size bytes. Returns the array, perhaps at another place; NULL when there is no memory, and then
 * the old one stays.
 */
void *array_grow(void *array, size_t n, size_t size);

#endif
