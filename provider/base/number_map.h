/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects found by a number: the QPs that complete to one CQ by their QP numbers, and its other
 * queues by theirs. A hash table of 32-bit keys without a lock of its own: the CQ's is held. An
 * object is in it once.
 */
#ifndef UHCAV_NUMBER_MAP_H
#define UHCAV_NUMBER_MAP_H

#include <stdint.h>

struct uhcav_numbered {
	uint32_t number;
	void *object; /* NULL: the slot is free */
};

struct uhcav_number_map {
	struct uhcav_numbered *slot;
	uint32_t mask;
	uint32_t n;
};

void uhcav_number_map_construct(struct uhcav_number_map *m);
void uhcav_number_map_destruct(struct uhcav_number_map *m);

/* Enters an object, which is not NULL, in place of any of that number. 0 or -ENOMEM. */
int uhcav_number_map_add(struct uhcav_number_map *m, uint32_t number, void *object);

/* Takes an object out; a number that is not there is ignored. */
void uhcav_number_map_remove(struct uhcav_number_map *m, uint32_t number);

/* NULL when there is none of that number. */
void *uhcav_number_map_find(const struct uhcav_number_map *m, uint32_t number);

/* All in turn: *cursor starts at 0; NULL at the end. */
void *uhcav_number_map_next(const struct uhcav_number_map *m, uint32_t *cursor);

#endif
