/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the program that the daemon has mapped, too (uhcadv_alloc_shared(3)). To the program it
 * is memory like any other; a region that lies in it completely is made of the daemon's mapping
 * (mr.c asks uhcav_shared_find). Each context knows what was allocated through it, and only that.
 */
#ifndef UHCAV_SHARED_MEMORY_H
#define UHCAV_SHARED_MEMORY_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_shared;

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

/* uhcadv_alloc_shared: page aligned, zeroed, of whole pages. NULL with errno. */
void *uhcav_alloc_shared(struct ibv_context *ibctx, size_t length);

/*
 * uhcadv_free_shared: 0, EBUSY while a region is registered in it, EINVAL for what is not the
 * beginning of a piece of this context. On a dead context it frees what is ours.
 */
int uhcav_free_shared(struct ibv_context *ibctx, void *addr);

#endif
