/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open addressing, at most half full; removal moves later members of a cluster back instead of
 * leaving marks.
 */
#include "number_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 8u

static uint32_t home(const struct uhcav_number_map *m, uint32_t number)
{
	return (number * 2654435761u >> 8) & m->mask;
}

void uhcav_number_map_construct(struct uhcav_number_map *m)
{
	m->slot = NULL;
	m->mask = 0;
	m->n = 0;
}

void uhcav_number_map_destruct(struct uhcav_number_map *m)
{
	free(m->slot);
	uhcav_number_map_construct(m);
}

/* The slot that holds the number, or the free one where it belongs. */
static uint32_t seek(const struct uhcav_number_map *m, uint32_t number)
{
	uint32_t i = home(m, number);

	while (m->slot[i].object && m->slot[i].number != number)
		i = (i + 1) & m->mask;
	return i;
}

static int grow(struct uhcav_number_map *m)
{
	uint32_t n = m->slot ? (m->mask + 1) * 2 : FIRST_SLOTS;
	struct uhcav_number_map bigger = {.mask = n - 1, .n = m->n};

	bigger.slot = calloc(n, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (uint32_t i = 0; m->slot && i <= m->mask; i++)
		if (m->slot[i].object)
			bigger.slot[seek(&bigger, m->slot[i].number)] = m->slot[i];
	free(m->slot);
	*m = bigger;
	return 0;
}

int uhcav_number_map_add(struct uhcav_number_map *m, uint32_t number, void *object)
{
	uint32_t i;

	if (!m->slot || (m->n + 1) * 2 > m->mask + 1) {
		int err = grow(m);
		if (err)
			return err;
	}
	i = seek(m, number);
	m->n += !m->slot[i].object;
	m->slot[i] = (struct uhcav_numbered){number, object};
	return 0;
}

void uhcav_number_map_remove(struct uhcav_number_map *m, uint32_t number)
{
	uint32_t hole, i;

	if (!m->slot)
		return;
	hole = seek(m, number);
	if (!m->slot[hole].object)
		return;
	m->slot[hole].object = NULL;
	m->n--;
	for (i = (hole + 1) & m->mask; m->slot[i].object; i = (i + 1) & m->mask) {
		uint32_t want = home(m, m->slot[i].number);
		/* A member whose home lies cyclically in (hole, i] is found where it is. */
		if (((i - want) & m->mask) < ((i - hole) & m->mask))
			continue;
		m->slot[hole] = m->slot[i];
		m->slot[i].object = NULL;
		hole = i;
	}
}

void *uhcav_number_map_find(const struct uhcav_number_map *m, uint32_t number)
{
	return m->slot ? m->slot[seek(m, number)].object : NULL;
}

void *uhcav_number_map_next(const struct uhcav_number_map *m, uint32_t *cursor)
{
	while (m->slot && *cursor <= m->mask) {
		void *object = m->slot[(*cursor)++].object;
		if (object)
			return object;
	}
	return NULL;
}
