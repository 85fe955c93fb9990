/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions. The daemon cannot see page protections through the descriptor it has of our
 * memory, so the probe that a kernel does when it pins pages is done here, before the command.
 */
#include "mr.h"

#include "context.h"
#include "cq.h"
#include "mem_probe.h"
#include "verbs_private.h"

#include <errno.h>
#include <stdlib.h>

#define ACCESS_REMOTE_STORE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define ACCESS_KNOWN                                                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
/* Hints: a device that ignores them does what was asked. */
#define ACCESS_IGNORED (IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

struct mr {
	struct uhcav_verbs_mr v;
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
};

static int check(const void *addr, size_t length, int access)
{
	if (access & ~(ACCESS_KNOWN | (int)ACCESS_IGNORED))
		return -EOPNOTSUPP;
	if (!length || (uintptr_t)addr + length < (uintptr_t)addr)
		return -EINVAL;
	if ((access & ACCESS_REMOTE_STORE) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return uhcav_mem_probe(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
}

static int command(struct uhcav_context *ctx, struct uhca_cmd_reg_mr *request,
		   struct uhca_cmd_reg_mr_reply *reply)
{
	struct uhcav_call call = {.request = &request->h,
				  .request_size = sizeof(*request),
				  .cmd = UHCA_CMD_REG_MR,
				  .reply = &reply->h,
				  .reply_size = sizeof(*reply)};
	struct uhcav_region region = {
		.iova = request->iova, .length = request->length, .addr = request->addr};
	int err = uhcav_mr_table_reserve(&ctx->regions);

	if (err)
		return err;
	err = uhcav_context_call(ctx, &call);
	if (err)
		return err;
	region.lkey = reply->lkey;
	uhcav_mr_table_add(&ctx->regions, &region);
	return 0;
}

struct ibv_mr *uhcav_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct uhca_cmd_reg_mr request = {.addr = (uintptr_t)addr,
					  .length = length,
					  .iova = iova,
					  .pd = pd->handle,
					  .access = (uint32_t)(access & ACCESS_KNOWN)};
	struct uhca_cmd_reg_mr_reply reply;
	int err = check(addr, length, access);
	struct mr *mr;

	if (err) {
		errno = -err;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = command(uhcav_context_of(pd->context), &request, &reply);
	if (err) {
		free(mr);
		errno = -err;
		return NULL;
	}
	mr->v.access = access;
	mr->v.mr.context = pd->context;
	mr->v.mr.handle = reply.handle;
	mr->v.mr.lkey = reply.lkey;
	mr->v.mr.rkey = reply.rkey;
	return &mr->v.mr;
}

int uhcav_dereg_mr(void *verbs_mr)
{
	struct mr *mr = verbs_mr;
	struct uhcav_context *ctx = uhcav_context_of(mr->v.mr.context);
	int err = uhcav_context_call_destroy(ctx, UHCA_CMD_DEREG_MR, mr->v.mr.handle);

	if (err)
		return -err;
	uhcav_mr_table_remove(&ctx->regions, mr->v.mr.lkey);
	/* The device is done with the region; what waits in CQs is not: the caller may free it. */
	if (uhcav_life(ctx) != UHCAV_FORKED)
		uhcav_cqs_settle(ctx);
	free(mr);
	return 0;
}
