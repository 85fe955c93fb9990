/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues. The ring has the layout of a QP's receive queue; the daemon raises
 * SRQ_LIMIT_REACHED and counts for itself.
 */
#include "srq.h"

#include "cq.h"
#include "emu/abi/wqe.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "xrcd.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t cookie_of(const struct uhcav_srq *srq)
{
	return (uintptr_t)&srq->srq;
}

/* What a create request says beside the cookie. */
static struct uhca_cmd_create_srq request_of(const struct ibv_srq_init_attr_ex *attr)
{
	struct uhca_cmd_create_srq request = {.pd = attr->pd->handle,
					      .max_wr = attr->attr.max_wr,
					      .max_sge = attr->attr.max_sge,
					      .srq_limit = attr->attr.srq_limit,
					      .srq_type = attr->srq_type};

	if (attr->srq_type == IBV_SRQT_XRC) {
		request.xrcd = uhcav_xrcd_of(attr->xrcd)->handle;
		request.cq = attr->cq->handle;
	}
	return request;
}

static int create_command(struct uhcav_srq *srq, const struct ibv_srq_init_attr_ex *attr,
			  struct uhca_cmd_create_srq_reply *reply, int *fd)
{
	struct uhca_cmd_create_srq request = request_of(attr);
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_SRQ, &request, reply, .recv_fd = fd, .n_recv_fd = 1);

	request.cookie = cookie_of(srq);
	srq->limited = attr->attr.srq_limit;
	return uhcav_context_call(srq->ctx, &call);
}

static int map_queue(struct uhcav_srq *srq, const struct uhca_cmd_create_srq_reply *r, int fd)
{
	int err = uhcav_work_queue_map(&srq->rq, r, fd, &srq->page);

	if (!err)
		srq->region_size = r->region_size;
	return err;
}

static int open_srq(struct uhcav_srq *srq, struct ibv_srq_init_attr_ex *attr)
{
	struct uhca_cmd_create_srq_reply reply;
	int fd;
	int err = create_command(srq, attr, &reply, &fd);

	if (err)
		return err;
	err = map_queue(srq, &reply, fd);
	if (err) {
		uhcav_context_call_handle(srq->ctx, UHCA_CMD_DESTROY_SRQ, reply.handle);
		return err;
	}
	srq->srq.handle = reply.handle;
	srq->number = reply.srq_num;
	err = srq->xrc ? uhcav_cq_attach_queue(uhcav_cq_of(attr->cq), uhcav_xrc_key(srq->number),
					       &srq->rq)
		       : 0;
	if (err) {
		munmap(srq->page, srq->region_size);
		uhcav_context_call_handle(srq->ctx, UHCA_CMD_DESTROY_SRQ, reply.handle);
		return err;
	}
	srq->cq = srq->xrc ? uhcav_cq_of(attr->cq) : NULL;
	attr->attr.max_wr = reply.max_wr;
	attr->attr.max_sge = reply.max_sge;
	return 0;
}

static struct ibv_srq *create(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *attr)
{
	struct uhcav_srq *srq = calloc(1, sizeof(*srq));
	int err;

	if (!srq)
		return NULL;
	srq->ctx = uhcav_context_of(ibctx);
	srq->xrc = attr->srq_type == IBV_SRQT_XRC;
	uhcav_lock_init(&srq->rq.lock,
			srq->ctx->single_threaded || uhcav_pd_single_threaded(attr->pd));
	err = open_srq(srq, attr);
	if (err)
		return uhcav_no_object(srq, err);
	srq->parent = uhcav_parent_domain_join(attr->pd);
	srq->inside.domain = uhcav_parent_domain_inside(srq->parent);
	return &srq->srq;
}

struct ibv_srq *uhcav_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {.attr = attr->attr, .srq_type = IBV_SRQT_BASIC, .pd = pd};
	struct ibv_srq *ibsrq = create(pd->context, &ex);

	attr->attr = ex.attr;
	return ibsrq;
}

/* Handles are numbers of a context: those of objects of another one may name something here. */
static int check_ex(struct ibv_context *ibctx, const struct ibv_srq_init_attr_ex *attr)
{
	static const char verb[] = "create_srq_ex";
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	bool typed = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE;
	bool is_xrc = typed && attr->srq_type == IBV_SRQT_XRC;
	const uint32_t basic = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	const uint32_t xrc = basic | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd || attr->pd->context != ibctx)
		return uhcav_refuse(ctx, verb, -EINVAL,
				    "comp_mask 0x%x: pd is missing, or not of this context",
				    attr->comp_mask);
	if (attr->comp_mask & ~(is_xrc ? xrc : basic))
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, is_xrc ? xrc : basic);
	if (typed && !is_xrc && attr->srq_type != IBV_SRQT_BASIC)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP, "srq_type %d is not BASIC or XRC",
				    (int)attr->srq_type);
	if (is_xrc && ((attr->comp_mask & xrc) != xrc || !attr->xrcd ||
		       attr->xrcd->context != ibctx || !attr->cq || attr->cq->context != ibctx))
		return uhcav_refuse(ctx, verb, -EINVAL,
				    "comp_mask 0x%x: xrcd or cq is missing, or not of this context",
				    attr->comp_mask);
	return 0;
}

struct ibv_srq *uhcav_create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *attr)
{
	/* Callers built long ago have a shorter struct. */
	struct ibv_srq_init_attr_ex ex = {.attr = attr->attr,
					  .srq_type = attr->srq_type,
					  .pd = attr->pd,
					  .xrcd = attr->xrcd,
					  .cq = attr->cq};
	struct ibv_srq *ibsrq;
	int err = check_ex(ibctx, attr);

	if (err)
		return uhcav_no_object(NULL, err);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		ex.srq_type = IBV_SRQT_BASIC;
	ibsrq = create(ibctx, &ex);
	if (!ibsrq)
		return NULL;
	ibsrq->context = ibctx;
	ibsrq->srq_context = attr->srq_context;
	ibsrq->pd = attr->pd;
	pthread_mutex_init(&ibsrq->mutex, NULL);
	pthread_cond_init(&ibsrq->cond, NULL);
	attr->attr = ex.attr;
	return ibsrq;
}

int uhcav_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	const struct uhcav_srq *srq = uhcav_srq_of(ibsrq);

	if (!srq->xrc)
		return uhcav_failed(uhcav_refuse(srq->ctx, "get_srq_num", EINVAL,
						 "the SRQ is not of type IBV_SRQT_XRC"));
	*srq_num = srq->number;
	return 0;
}

/*
 * The device moves what is posted to a new ring; nobody posts meanwhile. A request occupies the SRQ
 * until its completion was polled (10.8.6): as many must find room.
 */
static int resize_command(struct uhcav_srq *srq, struct uhca_cmd_modify_srq *request,
			  struct uhca_cmd_create_srq_reply *reply, int *fd)
{
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_RESIZE_SRQ, request, reply, .recv_fd = fd, .n_recv_fd = 1);

	return uhcav_context_call(srq->ctx, &call);
}

static int resize(struct uhcav_srq *srq, struct uhca_cmd_modify_srq *request)
{
	struct uhca_abi_queue *old = srq->page;
	size_t old_size = srq->region_size;
	struct uhca_cmd_create_srq_reply reply;
	uint32_t used;
	int fd, err = 0, lost = 0;

	uhcav_lock(&srq->rq.lock);
	used = uhcav_work_queue_used(&srq->rq);
	if (used <= request->max_wr)
		err = resize_command(srq, request, &reply, &fd);
	if (!err && used <= request->max_wr)
		lost = map_queue(srq, &reply, fd);
	uhcav_unlock(&srq->rq.lock);
	if (used > request->max_wr)
		return uhcav_refuse(srq->ctx, "modify_srq", -EINVAL,
				    "max_wr %u: %u requests are outstanding", request->max_wr,
				    used);
	if (lost) /* the device takes from a ring that we cannot see: nothing here works any more */
		uhcav_context_fatal(srq->ctx);
	else if (!err)
		munmap(old, old_size);
	return err ? err : lost;
}

int uhcav_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
	struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	struct uhca_cmd_modify_srq request = {.handle = ibsrq->handle,
					      .attr_mask = (uint32_t)attr_mask,
					      .max_wr = attr->max_wr,
					      .srq_limit = attr->srq_limit};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_MODIFY_SRQ, &request);

	if (attr_mask & IBV_SRQ_LIMIT && attr->srq_limit)
		__atomic_store_n(&srq->limited, true, __ATOMIC_RELAXED);
	if (attr_mask & IBV_SRQ_MAX_WR)
		return uhcav_result(resize(srq, &request));
	return uhcav_result(uhcav_context_call(srq->ctx, &call));
}

int uhcav_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	struct uhca_cmd_handle request = {.handle = ibsrq->handle};
	struct uhca_cmd_query_srq_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_SRQ, &request, &reply);
	int err = uhcav_context_call(srq->ctx, &call);

	if (err)
		return uhcav_result(err);
	attr->max_wr = reply.max_wr;
	attr->max_sge = reply.max_sge;
	attr->srq_limit = reply.srq_limit;
	return 0;
}

int uhcav_destroy_srq(struct ibv_srq *ibsrq)
{
	struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	int err = uhcav_context_call_destroy(uhcav_context_of(ibsrq->context), UHCA_CMD_DESTROY_SRQ,
					     ibsrq->handle);

	if (err)
		return uhcav_result(err);
	if (uhcav_life(srq->ctx) != UHCAV_FORKED)
		uhcav_async_settle(srq->ctx, UHCAV_ASYNC_UNREAD(srq, srq));
	if (srq->cq)
		uhcav_cq_detach_queue(srq->cq, uhcav_xrc_key(srq->number));
	munmap(srq->page, srq->region_size);
	uhcav_parent_domain_part(srq->parent);
	uhcav_let_go(srq);
	return 0;
}

int uhcav_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
	*bad_op = op;
	return uhcav_failed(uhcav_refuse(uhcav_context_of(ibsrq->context), "post_srq_ops",
					 EOPNOTSUPP, "tag matching is not supported"));
}
