/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows. What may be bound, the device decides when the bind's turn in the queue comes;
 * here only what names nothing of this context is refused.
 */
#include "mw.h"

#include "context.h"
#include "post_send.h"

#include <errno.h>
#include <stdlib.h>

struct mw {
	struct ibv_mw mw;
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
};

struct ibv_mw *uhcav_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct uhca_cmd_alloc_mw request = {.pd = pd->handle, .type = (uint32_t)type};
	struct uhca_cmd_alloc_mw_reply reply;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_ALLOC_MW,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply)};
	struct mw *mw = calloc(1, sizeof(*mw));
	int err;

	if (!mw)
		return NULL;
	err = uhcav_context_call(uhcav_context_of(pd->context), &call);
	if (err) {
		free(mw);
		errno = -err;
		return NULL;
	}
	mw->mw.context = pd->context;
	mw->mw.pd = pd;
	mw->mw.rkey = reply.rkey;
	mw->mw.handle = reply.handle;
	mw->mw.type = type;
	return &mw->mw;
}

int uhcav_dealloc_mw(struct ibv_mw *mw)
{
	int err = uhcav_context_call_destroy(uhcav_context_of(mw->context), UHCA_CMD_DEALLOC_MW,
					     mw->handle);

	if (err)
		return -err;
	free(mw);
	return 0;
}

int uhcav_mw_check_bind(const struct ibv_context *ibctx, const struct ibv_mw *mw,
			const struct ibv_mw_bind_info *info)
{
	if (!mw || mw->context != ibctx || (info->mr && info->mr->context != ibctx))
		return EINVAL;
	return 0;
}

void uhcav_mw_put_bind(struct uhca_abi_send_wqe *wqe, const struct ibv_mw *mw, uint32_t new_rkey,
		       const struct ibv_mw_bind_info *info)
{
	wqe->bind.addr = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.mr_lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind.mw_rkey = mw->rkey;
	wqe->bind.new_rkey = new_rkey;
	wqe->bind.access = info->mw_access_flags;
}

int uhcav_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {.wr_id = bind->wr_id,
				 .opcode = IBV_WR_BIND_MW,
				 .send_flags = bind->send_flags,
				 .bind_mw = {.mw = mw,
					     .rkey = ibv_inc_rkey(mw->rkey),
					     .bind_info = bind->bind_info}};
	int err = uhcav_post_bind(qp, &wr);

	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
