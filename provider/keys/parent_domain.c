/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of this is the provider's: the device knows only the protection domain below. Use counts
 * keep the order of deallocation: a domain or thread domain that is used is busy.
 */
#include "parent_domain.h"

#include "provider/base/base.h"

#include <errno.h>
#include <stdlib.h>

#define ALIGNMENT 64u

struct uhcav_td {
	struct ibv_td td;
	uint32_t refs; /* parent domains; atomic */
	struct uhcav_inside inside;
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
};

static struct uhcav_td *td_of(struct ibv_td *td)
{
	return (struct uhcav_td *)(void *)td;
}

struct ibv_td *uhcav_alloc_td(struct ibv_context *ibctx, struct ibv_td_init_attr *attr)
{
	struct uhcav_td *td;

	if (attr->comp_mask)
		return uhcav_no_object(
			NULL, uhcav_refuse(uhcav_context_of(ibctx), "alloc_td", -EINVAL,
					   "comp_mask 0x%x has unknown bits", attr->comp_mask));
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ibctx;
	return &td->td;
}

int uhcav_dealloc_td(struct ibv_td *ibtd)
{
	struct uhcav_td *td = td_of(ibtd);

	if (__atomic_load_n(&td->refs, __ATOMIC_ACQUIRE))
		return uhcav_failed(uhcav_refuse(uhcav_context_of(ibtd->context), "dealloc_td",
						 EBUSY,
						 "the thread domain is in use by parent domains"));
	uhcav_let_go(td);
	return 0;
}

/* 0 or an errno value. */
static int check(struct ibv_context *ibctx, const struct ibv_parent_domain_init_attr *attr)
{
	static const char verb[] = "alloc_parent_domain";
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	const uint32_t known =
		IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if (!attr->pd || attr->pd->context != ibctx || (attr->td && attr->td->context != ibctx))
		return uhcav_refuse(ctx, verb, EINVAL, "pd or td is not of this context");
	if (attr->comp_mask & ~known)
		return uhcav_refuse(ctx, verb, EOPNOTSUPP, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, known);
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free))
		return uhcav_refuse(ctx, verb, EINVAL, "alloc or free is NULL");
	return 0;
}

static void fill(struct uhcav_pd *pd, const struct ibv_parent_domain_init_attr *attr)
{
	pd->pd.context = attr->pd->context;
	pd->pd.handle = attr->pd->handle;
	pd->below = uhcav_pd_of(attr->pd);
	if (attr->td)
		pd->td = td_of(attr->td);
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
}

struct ibv_pd *uhcav_alloc_parent_domain(struct ibv_context *ibctx,
					 struct ibv_parent_domain_init_attr *attr)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	int err = check(ibctx, attr);
	struct uhcav_pd *pd;

	if (err)
		return uhcav_no_object(NULL, -err);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	fill(pd, attr);
	if (pd->td)
		__atomic_fetch_add(&pd->td->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&ctx->parents_lock);
	pd->next = ctx->parents;
	ctx->parents = pd;
	pthread_mutex_unlock(&ctx->parents_lock);
	return &pd->pd;
}

bool uhcav_parent_domain_above(struct uhcav_context *ctx, const struct ibv_pd *ibpd)
{
	const struct uhcav_pd *parent;

	pthread_mutex_lock(&ctx->parents_lock);
	for (parent = ctx->parents; parent && &parent->below->pd != ibpd;)
		parent = parent->next;
	pthread_mutex_unlock(&ctx->parents_lock);
	return parent;
}

int uhcav_parent_domain_leave(struct uhcav_context *ctx, const struct ibv_pd *ibpd)
{
	struct uhcav_pd **at, *parent;
	bool busy;

	pthread_mutex_lock(&ctx->parents_lock);
	for (at = &ctx->parents; *at && &(*at)->pd != ibpd;)
		at = &(*at)->next;
	parent = *at;
	busy = parent && __atomic_load_n(&parent->members, __ATOMIC_ACQUIRE);
	if (parent && !busy)
		*at = parent->next;
	pthread_mutex_unlock(&ctx->parents_lock);
	if (!parent || busy)
		return busy ? EBUSY : ENOENT; /* the caller says it */
	if (parent->td)
		__atomic_fetch_sub(&parent->td->refs, 1, __ATOMIC_RELEASE);
	return 0;
}

struct uhcav_pd *uhcav_parent_domain_join(struct ibv_pd *pd)
{
	if (!pd || !uhcav_pd_is_parent(pd))
		return NULL;
	__atomic_fetch_add(&uhcav_pd_of(pd)->members, 1, __ATOMIC_RELAXED);
	return uhcav_pd_of(pd);
}

void uhcav_parent_domain_part(struct uhcav_pd *parent)
{
	if (parent)
		__atomic_fetch_sub(&parent->members, 1, __ATOMIC_RELEASE);
}

struct uhcav_inside *uhcav_parent_domain_inside(const struct uhcav_pd *parent)
{
	return parent && parent->td ? &parent->td->inside : NULL;
}

int uhcav_buffer_alloc(struct uhcav_buffer *b, struct ibv_pd *ibpd, size_t size, uint64_t type)
{
	struct uhcav_pd *pd = ibpd ? uhcav_pd_of(ibpd) : NULL;

	*b = (struct uhcav_buffer){.ptr = IBV_ALLOCATOR_USE_DEFAULT};
	if (pd && pd->alloc)
		b->ptr = pd->alloc(ibpd, pd->pd_context, size, ALIGNMENT, type);
	if (b->ptr == IBV_ALLOCATOR_USE_DEFAULT)
		b->ptr = malloc(size);
	else
		b->by = pd;
	return b->ptr ? 0 : -ENOMEM;
}

void uhcav_buffer_free(struct uhcav_buffer *b, uint64_t type)
{
	if (b->ptr && b->by)
		b->by->free(&b->by->pd, b->by->pd_context, b->ptr, type);
	else
		free(b->ptr);
	*b = (struct uhcav_buffer){0};
}
