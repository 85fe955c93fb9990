/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parent domains and thread domains (ibv_alloc_parent_domain(3), ibv_alloc_td(3)). Objects made in
 * a parent domain with a thread domain have locks that do nothing; buffers that we make for such
 * objects come from the application's allocator, when it gave one.
 */
#ifndef UHCAV_PARENT_DOMAIN_H
#define UHCAV_PARENT_DOMAIN_H

#include "pd.h"

/*
 * What the application's allocator is asked for: the lower half of resource_type. The upper one
 * is 0, RDMA_DRIVER_UNKNOWN.
 */
enum {
	UHCAV_RESOURCE_SEND_NOTES = 1, /* of a QP's send queue */
	UHCAV_RESOURCE_RECV_NOTES = 2,
};

/* NULL with errno: EINVAL without pd, with one of another context, or an unknown comp_mask. */
struct ibv_pd *uhcav_alloc_parent_domain(struct ibv_context *ibctx,
					 struct ibv_parent_domain_init_attr *attr);

/* Does a parent domain stand above this one? */
bool uhcav_parent_domain_above(struct uhcav_context *ctx, const struct ibv_pd *pd);

/*
 * It is being deallocated: those below it are less busy. ENOENT: it is no parent domain of the
 * context, which is known without looking at more of it than its address; EBUSY: it has members.
 */
int uhcav_parent_domain_leave(struct uhcav_context *ctx, const struct ibv_pd *pd);

/*
 * A QP, SRQ or CQ is made in pd (or NULL): a parent domain has it for a member until it parts.
 * Which parent domain that is; NULL: it is none, and for uhcav_parent_domain_part nothing to do.
 */
struct uhcav_pd *uhcav_parent_domain_join(struct ibv_pd *pd);
void uhcav_parent_domain_part(struct uhcav_pd *parent);

/* Who is in a call on a member of its thread domain, whichever; NULL without one. */
struct uhcav_inside *uhcav_parent_domain_inside(const struct uhcav_pd *parent);

/* NULL with errno: EINVAL for an unknown comp_mask. */
struct ibv_td *uhcav_alloc_td(struct ibv_context *ibctx, struct ibv_td_init_attr *attr);

/* 0, or EBUSY while a parent domain uses it. */
int uhcav_dealloc_td(struct ibv_td *ibtd);

/* A buffer, which may hold anything, and who made it. */
struct uhcav_buffer {
	void *ptr;
	struct uhcav_pd *by; /* parent domain whose allocator made it; NULL: malloc */
};

/* size bytes for an object of pd (NULL: none). 0 or -ENOMEM. */
int uhcav_buffer_alloc(struct uhcav_buffer *b, struct ibv_pd *pd, size_t size, uint64_t type);

/* Nothing for a buffer that was never made. */
void uhcav_buffer_free(struct uhcav_buffer *b, uint64_t type);

#endif
