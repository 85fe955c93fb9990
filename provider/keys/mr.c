/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions. The daemon cannot see page protections through the descriptor it has of our
 * memory, so the probe that a kernel does when it pins pages is done here, before the command.
 * On-demand regions are not probed: their pages may come and go; nor are regions of no length,
 * which have none.
 */
#include "mr.h"

#include "dma_handle.h"

#include "provider/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ACCESS_REMOTE_STORE     (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
/* In verbs.h from a later release on. */
#define ACCESS_FLUSH_GLOBAL     (1 << 8)
#define ACCESS_FLUSH_PERSISTENT (1 << 9)
#define ACCESS_KNOWN                                                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |                   \
	 IBV_ACCESS_ON_DEMAND | ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT)
/* Hints: a device that ignores them does what was asked. */
#define ACCESS_IGNORED (IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

int uhcav_mr_check_access(int access)
{
	if (access & ~(ACCESS_KNOWN | (int)ACCESS_IGNORED))
		return uhcav_because(-EOPNOTSUPP, "access 0x%x has unknown bits", (unsigned)access);
	if ((access & ACCESS_REMOTE_STORE) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return uhcav_because(-EINVAL,
				     "access 0x%x: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE",
				     (unsigned)access);
	return 0;
}

uint32_t uhcav_mr_abi_access(int access)
{
	return (uint32_t)(access & ACCESS_KNOWN);
}

static int check(const void *addr, size_t length, int access)
{
	int err = uhcav_mr_check_access(access);

	if (err || (uintptr_t)addr + length >= (uintptr_t)addr)
		return err;
	return uhcav_because(-EINVAL, "addr %p and length %zu exceed the address space", addr,
			     length);
}

static int refuse_memory(int err, const void *addr, size_t length, int access)
{
	if (!err)
		return 0;
	return uhcav_because(err, "%p + %zu is not mapped%s", addr, length,
			     access & IBV_ACCESS_LOCAL_WRITE ? ", or not writable" : "");
}

/* Is the memory there, as the access needs it? */
static int probe(const void *addr, size_t length, int access)
{
	if (!length || (access & IBV_ACCESS_ON_DEMAND))
		return 0;
	return refuse_memory(uhcav_mem_probe(addr, length, access & IBV_ACCESS_LOCAL_WRITE), addr,
			     length, access);
}

/* But for what was seen to when it was pinned. */
static int probe_others(const struct uhca_cmd_reg_mr *in, int access, const struct uhcav_pinning *a)
{
	const char *at = (const char *)(uintptr_t)in->addr;
	int err;

	if (!a->fresh_end)
		return probe(at, in->length, access);
	err = probe(at, a->fresh - in->addr, access);
	return err ? err
		   : probe((const char *)(uintptr_t)a->fresh_end,
			   in->addr + in->length - a->fresh_end, access);
}

static struct uhcav_region region_of(uint64_t addr, uint64_t length, uint64_t iova, int access)
{
	return (struct uhcav_region){
		.flags = access & IBV_ACCESS_ON_DEMAND ? UHCAV_REGION_ON_DEMAND : 0,
		.iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova,
		.length = length,
		.addr = addr,
	};
}

static int command(struct uhcav_context *ctx, uint32_t cmd, struct uhca_cmd_request *request,
		   uint32_t size, struct uhca_cmd_reg_mr_reply *reply)
{
	struct uhcav_call call = {.request = request,
				  .request_size = size,
				  .cmd = cmd,
				  .reply = &reply->h,
				  .reply_size = sizeof(*reply)};

	return uhcav_context_call(ctx, &call);
}

/*
 * A region that the device has made (reply): a new wrapper with handle, keys, context and pd. NULL
 * without memory: the device is told to take the region back.
 */
static struct uhcav_mr *new_mr(struct ibv_pd *pd, int type,
			       const struct uhca_cmd_reg_mr_reply *reply,
			       const struct uhcav_region *region)
{
	struct uhcav_context *ctx = uhcav_context_of(pd->context);
	struct uhcav_mr *mr = calloc(1, sizeof(*mr));

	if (!mr) {
		uhcav_context_call_destroy(ctx, UHCA_CMD_DEREG_MR, reply->handle);
		return NULL;
	}
	mr->v.mr_type = type;
	mr->v.mr.context = pd->context;
	mr->v.mr.pd = pd;
	mr->v.mr.handle = reply->handle;
	mr->v.mr.lkey = reply->lkey;
	mr->v.mr.rkey = reply->rkey;
	if (region) {
		mr->region = *region;
		mr->region.lkey = reply->lkey;
		uhcav_mr_table_add(&ctx->regions, &mr->region);
	}
	return mr;
}

struct uhcav_mr *uhcav_mr_make(struct ibv_pd *pd, uint32_t cmd, struct uhca_cmd_request *request,
			       uint32_t size, int type, const struct uhcav_region *region)
{
	struct uhcav_context *ctx = uhcav_context_of(pd->context);
	struct uhca_cmd_reg_mr_reply reply;
	int err = region ? uhcav_mr_table_reserve(&ctx->regions) : 0;

	if (!err)
		err = command(ctx, cmd, request, size, &reply);
	return err ? uhcav_no_object(NULL, err) : new_mr(pd, type, &reply, region);
}

/* Memory that the device has mapped is registered as such, if it is all of that kind. */
static bool is_shared(struct uhcav_context *ctx, const struct uhca_cmd_reg_mr *in,
		      struct uhca_cmd_reg_shared_mr *shared)
{
	*shared = (struct uhca_cmd_reg_shared_mr){
		.length = in->length, .iova = in->iova, .pd = in->pd, .access = in->access};
	return in->length && !(in->access & IBV_ACCESS_ON_DEMAND) &&
	       uhcav_shared_find(&ctx->shared, in->addr, in->length, &shared->dm, &shared->offset);
}

/* The longest part that the device has mapped: it takes payload there itself. */
static void name_pinned(struct uhcav_region *region, const struct uhcav_pinning *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct uhca_abi_extent *e = &a->extent[i];

		if (e->length > region->pinned_end - region->pinned) {
			region->pinned = e->addr;
			region->pinned_end = e->addr + e->length;
		}
	}
}

static struct uhcav_mr *make(struct ibv_pd *pd, struct uhca_cmd_reg_mr *in,
			     const struct uhcav_pinning *a, struct uhcav_region *region)
{
	struct uhca_cmd_reg_pinned_mr request;

	in->borrowed = a->borrowed;
	if (!a->n)
		return uhcav_mr_make(pd, UHCA_CMD_REG_MR, &in->h, sizeof(*in), UHCAV_MR_ORDINARY,
				     region);
	request = (struct uhca_cmd_reg_pinned_mr){.mr = *in, .n_extents = a->n};
	memcpy(request.extent, a->extent, a->n * sizeof(a->extent[0]));
	name_pinned(region, a);
	return uhcav_mr_make(pd, UHCA_CMD_REG_PINNED_MR, &request.mr.h, sizeof(request),
			     UHCAV_MR_ORDINARY, region);
}

/*
 * Ordinary memory: pinned where that can be, with all its pages. Others that are not there yet are
 * brought in afterwards.
 */
static struct uhcav_mr *reg(struct ibv_pd *pd, struct uhca_cmd_reg_mr *in, int access,
			    struct uhcav_region *region)
{
	struct uhcav_pinning *a = malloc(sizeof(*a));
	struct uhcav_mr *mr = NULL;
	int err;

	if (!a)
		return uhcav_no_object(NULL, -ENOMEM);
	uhcav_pinning_begin(uhcav_context_of(pd->context), in->addr, in->length, access, a);
	err = probe_others(in, access, a);
	if (err)
		errno = -uhcav_refused(uhcav_context_of(pd->context), "reg_mr", err);
	else
		mr = make(pd, in, a, region);
	if (!mr && a->n && errno == ENOSPC) { /* the daemon has no room for more of the arena */
		uhcav_pinning_refused(a);
		*region = region_of(in->addr, in->length, in->iova, access);
		mr = make(pd, in, a, region);
	}
	if (!mr)
		uhcav_pinning_end(a);
	if (!mr || !a->n) {
		free(a);
		return mr;
	}
	mr->pinning = a;
	return mr;
}

static void drop_pinning(struct uhcav_mr *mr)
{
	if (!mr->pinning)
		return;
	uhcav_pinning_end(mr->pinning);
	free(mr->pinning);
	mr->pinning = NULL;
}

static __thread struct uhcav_dmah *next_handle;

void uhcav_mr_next_handle(struct uhcav_dmah *dmah)
{
	next_handle = dmah;
}

struct ibv_mr *uhcav_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct uhca_cmd_reg_mr request = {.addr = (uintptr_t)addr,
					  .length = length,
					  .iova = iova,
					  .pd = pd->handle,
					  .access = uhcav_mr_abi_access(access),
					  .hint = uhcav_dmah_hint(next_handle)};
	struct uhcav_region region = region_of((uintptr_t)addr, length, iova, access);
	struct uhca_cmd_reg_shared_mr shared;
	int err = check(addr, length, access);
	struct uhcav_mr *mr;

	if (err)
		return uhcav_no_object(NULL,
				       uhcav_refused(uhcav_context_of(pd->context), "reg_mr", err));
	if (is_shared(uhcav_context_of(pd->context), &request, &shared))
		mr = uhcav_mr_make(pd, UHCA_CMD_REG_SHARED_MR, &shared.h, sizeof(shared),
				   UHCAV_MR_ORDINARY, &region);
	else
		mr = reg(pd, &request, access, &region);
	if (!mr)
		return NULL;
	mr->v.access = access;
	mr->dmah = next_handle;
	if (mr->dmah)
		uhcav_dmah_take(mr->dmah);
	return &mr->v.mr;
}

/* What the region is to be, of what it is and what is asked for. */
static void plan(const struct uhcav_mr *mr, const struct uhca_cmd_rereg_mr *in, int access,
		 struct uhcav_region *to)
{
	const struct uhcav_region *old = &mr->region;
	uint64_t plain = mr->v.access & IBV_ACCESS_ZERO_BASED ? old->addr : old->iova;

	if (in->flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		*to = region_of(in->addr, in->length, in->iova, access);
	else
		*to = region_of(old->addr, old->length, plain, access);
}

/*
 * While the device changes the region, nobody gathers from it: the table has it neither as it was
 * nor as it will be, and the device looks at the key itself.
 */
static int change(struct uhcav_mr *mr, struct uhca_cmd_rereg_mr *request,
		  const struct uhcav_region *to)
{
	struct uhcav_context *ctx = uhcav_context_of(mr->v.mr.context);
	struct uhca_cmd_reg_mr_reply reply;
	int err = uhcav_mr_table_reserve(&ctx->regions);

	if (err)
		return err;
	uhcav_mr_table_remove(&ctx->regions, mr->region.lkey);
	err = command(ctx, UHCA_CMD_REREG_MR, &request->h, sizeof(*request), &reply);
	if (!err) {
		if (request->flags & IBV_REREG_MR_CHANGE_TRANSLATION)
			drop_pinning(mr); /* other memory now, and borrowed */
		mr->region = *to;
		if (mr->pinning)
			name_pinned(&mr->region, mr->pinning);
		mr->region.lkey = reply.lkey;
		mr->v.mr.lkey = reply.lkey;
		mr->v.mr.rkey = reply.rkey;
	}
	uhcav_mr_table_add(&ctx->regions, &mr->region);
	return err;
}

int uhcav_rereg_mr(void *verbs_mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access)
{
	struct uhcav_mr *mr = verbs_mr;
	struct uhca_cmd_rereg_mr request = {.addr = (uintptr_t)addr,
					    .length = length,
					    .iova = (uintptr_t)addr,
					    .handle = mr->v.mr.handle,
					    .flags = (uint32_t)flags};
	struct uhcav_context *ctx = uhcav_context_of(mr->v.mr.context);
	struct uhcav_region to;
	int err;

	if (mr->v.mr_type != UHCAV_MR_ORDINARY || mr->region.lkey == 0)
		return uhcav_failed(uhcav_refuse(ctx, "rereg_mr", EINVAL,
						 "the region is not of ordinary memory"));
	if (flags & IBV_REREG_MR_CHANGE_PD)
		request.pd = pd->handle;
	if (!(flags & IBV_REREG_MR_CHANGE_ACCESS))
		access = mr->v.access;
	request.access = uhcav_mr_abi_access(access);
	plan(mr, &request, access, &to);
	err = check((const void *)(uintptr_t)to.addr, to.length, access);
	if (!err)
		err = probe((const void *)(uintptr_t)to.addr, to.length, access);
	if (err)
		uhcav_refused(ctx, "rereg_mr", err);
	if (!err)
		err = change(mr, &request, &to);
	if (!err)
		mr->v.access = access; /* the library does not; the next change starts from it */
	return uhcav_result(err);
}

int uhcav_dereg_mr(void *verbs_mr)
{
	struct uhcav_mr *mr = verbs_mr;
	struct uhcav_context *ctx = uhcav_context_of(mr->v.mr.context);
	int err = uhcav_context_call_destroy(ctx, UHCA_CMD_DEREG_MR, mr->v.mr.handle);

	if (err)
		return uhcav_result(err);
	if (mr->region.lkey)
		uhcav_mr_table_remove(&ctx->regions, mr->region.lkey);
	if (mr->mapping)
		munmap(mr->mapping, mr->mapping_size);
	drop_pinning(mr);
	if (mr->dmah)
		uhcav_dmah_release(mr->dmah);
	uhcav_let_go(mr);
	return 0;
}
