/* SPDX-License-Identifier: BSD-2-Clause */
/* See wq.h. The ring is that of an SRQ; the state that counts is the device's. */
#include "wq.h"

#include "cq.h"
#include "emu/abi/event.h"
#include "emu/abi/wqe.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

static int create_command(struct uhcav_wq *wq, const struct ibv_wq_init_attr *attr,
			  struct uhca_cmd_create_srq_reply *reply, int *fd)
{
	struct uhca_cmd_create_wq request = {
		.cookie = (uintptr_t)&wq->wq,
		.pd = attr->pd->handle,
		.cq = attr->cq->handle,
		.wq_type = attr->wq_type,
		.max_wr = attr->max_wr,
		.max_sge = attr->max_sge,
		.create_flags = attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS ? attr->create_flags : 0};
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_WQ, &request, reply, .recv_fd = fd, .n_recv_fd = 1);

	return uhcav_context_call(wq->ctx, &call);
}

static int modify_command(struct uhcav_wq *wq, const struct ibv_wq_attr *attr)
{
	struct uhca_cmd_modify_wq request = {.handle = wq->wq.handle,
					     .attr_mask = attr->attr_mask,
					     .wq_state = attr->wq_state,
					     .curr_wq_state = attr->curr_wq_state,
					     .flags = attr->flags,
					     .flags_mask = attr->flags_mask};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_MODIFY_WQ, &request);

	return uhcav_context_call(wq->ctx, &call);
}

static int open_wq(struct uhcav_wq *wq, struct ibv_wq_init_attr *attr)
{
	struct uhca_cmd_create_srq_reply reply;
	int fd;
	int err = create_command(wq, attr, &reply, &fd);

	if (err)
		return err;
	wq->region_size = reply.region_size;
	err = uhcav_work_queue_map(&wq->rq, &reply, fd, &wq->page);
	if (err) {
		uhcav_context_call_handle(wq->ctx, UHCA_CMD_DESTROY_WQ, reply.handle);
		return err;
	}
	err = uhcav_cq_attach_queue(uhcav_cq_of(attr->cq), reply.srq_num, &wq->rq);
	if (err) {
		munmap(wq->page, wq->region_size);
		uhcav_context_call_handle(wq->ctx, UHCA_CMD_DESTROY_WQ, reply.handle);
		return err;
	}
	wq->wq.handle = reply.handle;
	wq->wq.wq_num = reply.srq_num;
	attr->max_wr = reply.max_wr;
	attr->max_sge = reply.max_sge;
	return 0;
}

static int check_wq(struct ibv_context *ibctx, const struct ibv_wq_init_attr *attr)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	int err = 0;

	if (!attr->pd || attr->pd->context != ibctx)
		err = uhcav_refuse(ctx, "create_wq", EINVAL, "pd is not of this context");
	else if (!attr->cq || attr->cq->context != ibctx)
		err = uhcav_refuse(ctx, "create_wq", EINVAL, "cq is not of this context");
	else if (attr->comp_mask & ~(uint32_t)IBV_WQ_INIT_ATTR_FLAGS)
		err = uhcav_refuse(ctx, "create_wq", EINVAL, "comp_mask 0x%x has unknown bits",
				   attr->comp_mask);
	return uhcav_failed(err);
}

struct ibv_wq *uhcav_wq_new(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr)
{
	struct uhcav_wq *wq;
	int err;

	if (check_wq(ibctx, attr))
		return NULL;
	wq = calloc(1, sizeof(*wq));
	if (!wq)
		return NULL;
	wq->ctx = uhcav_context_of(ibctx);
	uhcav_lock_init(&wq->rq.lock, wq->ctx->single_threaded);
	wq->wq.context = ibctx;
	wq->wq.pd = attr->pd;
	wq->wq.cq = attr->cq;
	wq->wq.wq_type = attr->wq_type;
	wq->wq.state = IBV_WQS_RESET;
	err = open_wq(wq, attr);
	return err ? uhcav_no_object(wq, err) : &wq->wq;
}

void uhcav_wq_flush(struct uhcav_wq *wq)
{
	const struct ibv_wq_attr flush = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR};

	modify_command(wq, &flush);
}

/* A reset: nothing of what was posted completes. */
static void forget_work(struct uhcav_wq *wq)
{
	struct uhcav_cq *cq = uhcav_cq_of(wq->wq.cq);

	uhcav_cq_skip(cq, wq->wq.wq_num, NULL);
	uhcav_lock(&cq->lock);
	uhcav_lock(&wq->rq.lock);
	uhcav_work_queue_polled(&wq->rq, wq->rq.producer);
	uhcav_unlock(&wq->rq.lock);
	uhcav_unlock(&cq->lock);
}

int uhcav_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	struct uhcav_wq *wq = uhcav_wq_of(ibwq);
	int err = modify_command(wq, attr);

	if (err || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return uhcav_result(err);
	if (attr->wq_state == IBV_WQS_RESET)
		forget_work(wq);
	__atomic_store_n(&ibwq->state, attr->wq_state, __ATOMIC_RELEASE);
	return 0;
}

int uhcav_destroy_wq(struct ibv_wq *ibwq)
{
	struct uhcav_wq *wq = uhcav_wq_of(ibwq);
	int err = uhcav_context_call_destroy(uhcav_context_of(ibwq->context), UHCA_CMD_DESTROY_WQ,
					     ibwq->handle);

	if (err)
		return uhcav_result(err);
	if (uhcav_life(wq->ctx) != UHCAV_FORKED) {
		uhcav_cq_skip(uhcav_cq_of(ibwq->cq), ibwq->wq_num, NULL);
		uhcav_async_settle(wq->ctx, UHCAV_ASYNC_UNREAD(wq, wq));
	}
	uhcav_cq_detach_queue(uhcav_cq_of(ibwq->cq), ibwq->wq_num);
	munmap(wq->page, wq->region_size);
	uhcav_let_go(wq);
	return 0;
}

/* ---- tables ---- */

static int table_command(struct uhcav_context *ctx, const struct ibv_rwq_ind_table_init_attr *attr,
			 struct uhca_cmd_handle_reply *reply)
{
	static const char verb[] = "create_rwq_ind_table";
	struct uhca_cmd_create_rwq_ind_table request = {.log_size = attr->log_ind_tbl_size};
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_CREATE_RWQ_IND_TABLE, &request, reply);

	if (attr->comp_mask)
		return uhcav_refuse(ctx, verb, -EINVAL, "comp_mask 0x%x has unknown bits",
				    attr->comp_mask);
	if (attr->log_ind_tbl_size > UHCA_ABI_IND_TABLE_LOG)
		return uhcav_refuse(ctx, verb, -EINVAL, "log_ind_tbl_size %u exceeds %u",
				    attr->log_ind_tbl_size, UHCA_ABI_IND_TABLE_LOG);
	if (!attr->ind_tbl)
		return uhcav_refuse(ctx, verb, -EINVAL, "ind_tbl is NULL");
	for (uint32_t i = 0; i < 1u << attr->log_ind_tbl_size; i++) {
		struct ibv_wq *wq = attr->ind_tbl[i];
		if (!wq || wq->context != ctx->ibctx)
			return uhcav_refuse(ctx, verb, -EINVAL,
					    "ind_tbl[%u] is not a work queue of this context", i);
		request.wq[i] = wq->handle;
	}
	return uhcav_context_call(ctx, &call);
}

struct ibv_rwq_ind_table *uhcav_create_rwq_ind_table(struct ibv_context *ibctx,
						     struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ibv_rwq_ind_table *table = calloc(1, sizeof(*table));
	struct uhca_cmd_handle_reply reply;
	int err;

	if (!table)
		return NULL;
	err = table_command(uhcav_context_of(ibctx), attr, &reply);
	if (err)
		return uhcav_no_object(table, err);
	table->context = ibctx;
	table->ind_tbl_handle = (int)reply.handle;
	table->ind_tbl_num = (int)reply.handle;
	return table;
}

int uhcav_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	return uhcav_context_drop_object(uhcav_context_of(table->context),
					 UHCA_CMD_DESTROY_RWQ_IND_TABLE,
					 (uint32_t)table->ind_tbl_handle, table);
}
