/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protection domains (ibv_alloc_pd(3)). A parent domain (ibv_alloc_parent_domain(3), in
 * parent_domain.c) is one of these, too: with the handle of the domain below it, so that every
 * verb takes either.
 */
#ifndef UHCAV_PD_H
#define UHCAV_PD_H

#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct uhcav_td;

struct uhcav_pd {
	union {
		struct ibv_pd pd;
		uint8_t room[UHCAV_OBJECT_ROOM / 4];
	};

	/* Of a parent domain: */
	struct uhcav_pd *next;  /* of the context's, under its parents_lock */
	struct uhcav_pd *below; /* NULL: this is none */
	struct uhcav_td *td;    /* or NULL */
	uint32_t members;       /* queues that were made in it; atomic */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

static inline struct uhcav_pd *uhcav_pd_of(struct ibv_pd *pd)
{
	return (struct uhcav_pd *)(void *)pd;
}

static inline bool uhcav_pd_is_parent(struct ibv_pd *pd)
{
	return uhcav_pd_of(pd)->below != NULL;
}

/* Objects of a domain with a thread domain need no locks. NULL: no. */
static inline bool uhcav_pd_single_threaded(struct ibv_pd *pd)
{
	return pd && uhcav_pd_of(pd)->td != NULL;
}

/* NULL with errno. */
struct ibv_pd *uhcav_alloc_pd(struct ibv_context *ibctx);

/* Both kinds. 0 or an errno value; EBUSY while anything is in it. */
int uhcav_dealloc_pd(struct ibv_pd *pd);

/* Our part of a domain that the device has: NULL without memory. Freed with free(3). */
struct ibv_pd *uhcav_pd_new(struct ibv_context *ibctx, uint32_t handle);

#endif
