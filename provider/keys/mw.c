/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows. What may be bound, the device decides when the bind's turn in the queue comes.
 */
#include "mw.h"

#include "provider/base/base.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_mw *uhcav_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct uhca_cmd_alloc_mw request = {.pd = pd->handle, .type = (uint32_t)type};
	struct uhca_cmd_alloc_mw_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_ALLOC_MW, &request, &reply);
	struct uhcav_mw *mw = calloc(1, sizeof(*mw));
	int err;

	if (!mw)
		return NULL;
	err = uhcav_context_call(uhcav_context_of(pd->context), &call);
	if (err)
		return uhcav_no_object(mw, err);
	mw->mw.context = pd->context;
	mw->mw.pd = pd;
	mw->mw.rkey = reply.rkey;
	mw->mw.handle = reply.handle;
	mw->mw.type = type;
	return &mw->mw;
}

int uhcav_dealloc_mw(struct ibv_mw *mw)
{
	return uhcav_context_drop_object(uhcav_context_of(mw->context), UHCA_CMD_DEALLOC_MW,
					 mw->handle, mw);
}

bool uhcav_mw_put_bind(struct uhca_abi_send_wqe *wqe, const struct ibv_context *ibctx,
		       enum ibv_mw_type type, const struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	/* The handle is what stands above the key byte. Another context's may be ours as well. */
	bool ours = mw->context == ibctx && mw->type == type;
	uint32_t index = ours ? mw->handle << 8 : 0;

	wqe->bind.addr = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.mr_lkey = info->mr && info->mr->context == ibctx ? info->mr->lkey : 0;
	wqe->bind.mw_rkey = index;
	wqe->bind.new_rkey = index | (rkey & 0xff);
	wqe->bind.access = info->mw_access_flags;
	return ours;
}

void uhcav_mw_rekey(struct uhcav_mw **list, struct ibv_mw *ibmw, uint32_t rkey)
{
	struct uhcav_mw *mw = (struct uhcav_mw *)(void *)ibmw;

	if (!mw->listed) {
		mw->old_rkey = ibmw->rkey;
		mw->listed = true;
		mw->next = *list;
		*list = mw;
	}
	ibmw->rkey = rkey;
}

void uhcav_mw_posted(struct uhcav_mw **list)
{
	for (; *list; *list = (*list)->next)
		(*list)->listed = false;
}

void uhcav_mw_not_posted(struct uhcav_mw **list)
{
	for (struct uhcav_mw *mw = *list; mw; mw = mw->next)
		mw->mw.rkey = mw->old_rkey;
	uhcav_mw_posted(list);
}
