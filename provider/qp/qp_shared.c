/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles of shared receiving QPs: see qp_shared.h. The daemon counts them. */
#include "qp_shared.h"

#include "provider/queues/queues.h"
#include "qp_alloc.h"

#include <errno.h>
#include <string.h>

static struct uhcav_qp *alloc_shared(struct ibv_context *ibctx, void *qp_context)
{
	return uhcav_qp_alloc(ibctx, IBV_QPT_XRC_RECV, qp_context, false);
}

static int create_command(struct uhcav_qp *qp, struct ibv_xrcd *xrcd)
{
	struct uhca_cmd_create_qp request = {.cookie = (uintptr_t)&qp->qp,
					     .qp_type = IBV_QPT_XRC_RECV,
					     .xrcd = uhcav_xrcd_of(xrcd)->handle};
	struct uhca_cmd_create_qp_reply reply;
	int fd;
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_QP, &request, &reply, .recv_fd = &fd, .n_recv_fd = 1);
	int err = uhcav_context_call(qp->ctx, &call);

	if (err)
		return err;
	qp->qp.qp_num = reply.qpn;
	return uhcav_qp_take_region(qp, reply.handle, reply.region_size, fd);
}

struct ibv_qp *uhcav_create_shared_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp *qp;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd ||
	    attr->xrcd->context != ibctx)
		return uhcav_no_object(
			NULL,
			uhcav_refuse(uhcav_context_of(ibctx), "create_qp_ex", -EINVAL,
				     "comp_mask 0x%x: xrcd is missing, or not of this context",
				     attr->comp_mask));
	if (attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD))
		return uhcav_no_object(
			NULL, uhcav_refuse(uhcav_context_of(ibctx), "create_qp_ex", -EOPNOTSUPP,
					   "comp_mask 0x%x: an XRC_RECV QP has an xrcd only",
					   attr->comp_mask));
	qp = alloc_shared(ibctx, attr->qp_context);
	if (!qp)
		return NULL;
	/* The QP needs none; librdmacm takes its id's from here. */
	qp->qp.pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	memset(&attr->cap, 0, sizeof(attr->cap));
	return uhcav_qp_finish(qp, create_command(qp, attr->xrcd));
}

static int open_command(struct uhcav_qp *qp, const struct ibv_qp_open_attr *attr)
{
	struct uhca_cmd_open_qp request = {.cookie = (uintptr_t)&qp->qp,
					   .xrcd = uhcav_xrcd_of(attr->xrcd)->handle,
					   .qpn = attr->qp_num,
					   .qp_type = attr->qp_type};
	struct uhca_cmd_open_qp_reply reply;
	int fd;
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_OPEN_QP, &request, &reply, .recv_fd = &fd, .n_recv_fd = 1);
	int err = uhcav_context_call(qp->ctx, &call);

	if (err)
		return err;
	qp->qp.qp_num = attr->qp_num;
	qp->state = reply.qp_state;
	qp->qp.state = (enum ibv_qp_state)reply.qp_state;
	return uhcav_qp_take_region(qp, reply.handle, reply.region_size, fd);
}

struct ibv_qp *uhcav_open_qp(struct ibv_context *ibctx, struct ibv_qp_open_attr *attr)
{
	const uint32_t needed =
		IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	bool context = attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT;
	struct uhcav_qp *qp;

	if ((attr->comp_mask & needed) != needed ||
	    attr->comp_mask & ~(needed | IBV_QP_OPEN_ATTR_CONTEXT) || !attr->xrcd ||
	    attr->xrcd->context != ibctx)
		return uhcav_no_object(
			NULL,
			uhcav_refuse(uhcav_context_of(ibctx), "open_qp", -EINVAL,
				     "comp_mask 0x%x is not 0x%x, or xrcd is not of this context",
				     attr->comp_mask, needed));
	qp = alloc_shared(ibctx, context ? attr->qp_context : NULL);
	if (!qp)
		return NULL;
	return uhcav_qp_finish(qp, open_command(qp, attr));
}
