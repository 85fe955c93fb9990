/* SPDX-License-Identifier: BSD-2-Clause */
/* An arena allocator, and arrays that grow in it. */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536u
#define ALIGNMENT   alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *next;
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_take(struct arena *a, size_t n)
{
	void *p;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!a->chunk || a->size - a->used < n) {
		size_t size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
		struct arena_chunk *c = malloc(sizeof(*c) + size);

		if (!c)
			return NULL;
		c->next = a->chunk;
		*a = (struct arena){.chunk = c, .used = 0, .size = size};
	}
	p = a->chunk->bytes + a->used;
	a->used += n;
	return p;
}

char *arena_text(struct arena *a, const void *p, size_t n)
{
	char *text = arena_take(a, n + 1);

	if (!text)
		return NULL;
	if (n > 0)
		memcpy(text, p, n);
	text[n] = '\0';
	return text;
}

void arena_free(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *next = a->chunk->next;

		free(a->chunk);
		a->chunk = next;
	}
	*a = (struct arena){0};
}

/* Doubles at each power of two from 16 on. */
void *array_grow(void *array, size_t n, size_t size)
{
	if (n != 0 && (n < 16 || (n & (n - 1)) != 0))
		return array;
	return reallocarray(array, n ? 2 * n : 16, size);
}
