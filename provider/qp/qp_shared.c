/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles of shared receiving QPs: see qp_shared.h. The daemon counts them. */
#include "qp_shared.h"

#include "provider/queues/queues.h"
#include "queue_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct uhcav_qp *alloc_shared(struct ibv_context *ibctx, void *qp_context)
{
	struct uhcav_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->ctx = uhcav_context_of(ibctx);
	qp->state = IBV_QPS_RESET;
	uhcav_lock_init(&qp->sq.lock, qp->ctx->single_threaded);
	uhcav_lock_init(&qp->rq.lock, qp->ctx->single_threaded);
	qp->qp.context = ibctx;
	qp->qp.qp_context = qp_context;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = IBV_QPT_XRC_RECV;
	return qp;
}

static struct ibv_qp *finish(struct uhcav_qp *qp, int err)
{
	if (err) {
		free(qp);
		errno = -err;
		return NULL;
	}
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	return &qp->qp;
}

/* The device made the handle; fd is its region's. */
static int take(struct uhcav_qp *qp, uint32_t handle, uint64_t region_size, int fd)
{
	void *base;
	int err = uhcav_context_map(fd, region_size, true, UHCA_ABI_REGION_QP, &base);

	if (err) {
		uhcav_context_call_handle(qp->ctx, UHCA_CMD_DESTROY_QP, handle);
		return err;
	}
	qp->page = base;
	qp->region_size = region_size;
	qp->qp.handle = handle;
	return 0;
}

static int create_command(struct uhcav_qp *qp, struct ibv_xrcd *xrcd)
{
	struct uhca_cmd_create_qp request = {.cookie = (uintptr_t)&qp->qp,
					     .qp_type = IBV_QPT_XRC_RECV,
					     .xrcd = uhcav_xrcd_of(xrcd)->handle};
	struct uhca_cmd_create_qp_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_CREATE_QP,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	int err = uhcav_context_call(qp->ctx, &call);

	if (err)
		return err;
	qp->qp.qp_num = reply.qpn;
	return take(qp, reply.handle, reply.region_size, fd);
}

struct ibv_qp *uhcav_create_shared_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp *qp;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd ||
	    attr->xrcd->context != ibctx) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = alloc_shared(ibctx, attr->qp_context);
	if (!qp)
		return NULL;
	/* The QP needs none; librdmacm takes its id's from here. */
	qp->qp.pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	memset(&attr->cap, 0, sizeof(attr->cap));
	return finish(qp, create_command(qp, attr->xrcd));
}

static int open_command(struct uhcav_qp *qp, const struct ibv_qp_open_attr *attr)
{
	struct uhca_cmd_open_qp request = {.cookie = (uintptr_t)&qp->qp,
					   .xrcd = uhcav_xrcd_of(attr->xrcd)->handle,
					   .qpn = attr->qp_num,
					   .qp_type = attr->qp_type};
	struct uhca_cmd_open_qp_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_OPEN_QP,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	int err = uhcav_context_call(qp->ctx, &call);

	if (err)
		return err;
	qp->qp.qp_num = attr->qp_num;
	qp->state = reply.qp_state;
	qp->qp.state = (enum ibv_qp_state)reply.qp_state;
	return take(qp, reply.handle, reply.region_size, fd);
}

struct ibv_qp *uhcav_open_qp(struct ibv_context *ibctx, struct ibv_qp_open_attr *attr)
{
	const uint32_t needed =
		IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	bool context = attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT;
	struct uhcav_qp *qp;

	if ((attr->comp_mask & needed) != needed ||
	    attr->comp_mask & ~(needed | IBV_QP_OPEN_ATTR_CONTEXT) || !attr->xrcd ||
	    attr->xrcd->context != ibctx) {
		errno = EINVAL;
		return NULL;
	}
	qp = alloc_shared(ibctx, context ? attr->qp_context : NULL);
	if (!qp)
		return NULL;
	return finish(qp, open_command(qp, attr));
}
