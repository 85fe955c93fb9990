/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of memory that the daemon has mapped, too: which there are, found by address. A context
 * knows what was allocated through it, and only that (keys/shared_memory.h).
 */
#ifndef UHCAV_SHARED_LIST_H
#define UHCAV_SHARED_LIST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_shared {
	struct uhcav_shared *next;
	uint8_t *map; /* with the header's page */
	size_t map_size;
	uint64_t addr; /* where the program has it */
	uint64_t length;
	uint32_t handle;
};

struct uhcav_shared_list {
	pthread_mutex_t lock;
	struct uhcav_shared *first;
};

void uhcav_shared_construct(struct uhcav_shared_list *l);

/* Unmaps what is left; the daemon frees its part when the connection ends. */
void uhcav_shared_destruct(struct uhcav_shared_list *l);

/* Does [addr, addr + length) lie in one piece? Then *handle and *offset say where. Any thread. */
bool uhcav_shared_find(struct uhcav_shared_list *l, uint64_t addr, uint64_t length,
		       uint32_t *handle, uint64_t *offset);

/* Unmaps a piece that is in no list, and frees it. */
void uhcav_shared_drop(struct uhcav_shared *s);

#endif
