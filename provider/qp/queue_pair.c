/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs (ibv_create_qp(3), ibv_modify_qp(3), ibv_query_qp(3)). Which transitions are legal
 * is the device's to say; we keep the state only to refuse posts that need no device to be
 * refused. flush_qp.c has what happens to a QP whose daemon dies.
 */
#include "queue_pair.h"

#include "ah.h"
#include "emu/abi/wqe.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "qp_alloc.h"
#include "qp_attr.h"
#include "raw_right.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BIT(opcode) (1u << (opcode))

/* Which work requests a QP type takes (IBTA vol. 1, table in 10.7.2; ibv_post_send(3)). */
static uint32_t send_mask(enum ibv_qp_type type)
{
	const uint32_t send = BIT(IBV_WR_SEND) | BIT(IBV_WR_SEND_WITH_IMM);
	const uint32_t write = BIT(IBV_WR_RDMA_WRITE) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM);
	const uint32_t fetch = BIT(IBV_WR_RDMA_READ) | BIT(IBV_WR_ATOMIC_CMP_AND_SWP) |
			       BIT(IBV_WR_ATOMIC_FETCH_AND_ADD);

	const uint32_t local = BIT(IBV_WR_BIND_MW) | BIT(IBV_WR_LOCAL_INV);

	if (type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND)
		return send | write | fetch | local | BIT(IBV_WR_SEND_WITH_INV) |
		       BIT(UHCA_ABI_WR_ATOMIC_WRITE) | BIT(UHCA_ABI_WR_FLUSH);
	if (type == IBV_QPT_UC)
		return send | write | local;
	if (type == IBV_QPT_RAW_PACKET)
		return BIT(IBV_WR_SEND);
	return send;
}

static bool type_supported(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD ||
	       type == IBV_QPT_RAW_PACKET || type == IBV_QPT_XRC_SEND;
}

static int create_command(struct uhcav_qp *qp, const struct ibv_qp_init_attr *attr,
			  uint32_t max_list_bytes, struct uhca_cmd_create_qp_reply *reply, int *fd)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	struct uhca_cmd_create_qp request = {
		.cookie = (uintptr_t)&qp->qp,
		.pd = qp->qp.pd->handle,
		.qp_type = attr->qp_type,
		.send_cq = attr->send_cq->handle,
		.recv_cq = qp->qp.recv_cq ? qp->qp.recv_cq->handle : 0,
		.srq = qp->qp.srq ? qp->qp.srq->handle : 0,
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = qp->qp.srq ? 0 : cap->max_recv_wr,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = qp->qp.srq ? 0 : cap->max_recv_sge,
		.max_inline_data = cap->max_inline_data,
		.sq_sig_all = attr->sq_sig_all != 0,
		.create_flags = qp->create_flags,
		.max_list_bytes = max_list_bytes,
	};
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_QP, &request, reply, .recv_fd = fd, .n_recv_fd = 1);

	return uhcav_raw_right_call(qp->ctx, &call, attr->qp_type);
}

static int init_queues(struct uhcav_qp *qp, const struct uhca_cmd_create_qp_reply *r)
{
	int err;

	qp->sq.max_wr = r->max_send_wr;
	qp->sq.max_sge = r->max_send_sge;
	qp->sq.ring = &qp->page->send;
	qp->rq.max_wr = r->max_recv_wr;
	qp->rq.max_sge = r->max_recv_sge;
	qp->rq.ring = &qp->page->recv;
	err = uhcav_work_queue_init(&qp->sq, qp->page, r->region_size, &r->send,
				    UHCA_ABI_SEND_STRIDE(r->max_send_sge));
	if (err)
		return err;
	err = uhcav_work_queue_init(&qp->rq, qp->page, r->region_size, &r->recv,
				    UHCA_ABI_RECV_STRIDE(r->max_recv_sge));
	if (!err)
		err = uhcav_work_queue_keep_notes(&qp->sq, qp->qp.pd, UHCAV_RESOURCE_SEND_NOTES);
	if (!err)
		err = uhcav_work_queue_keep_notes(&qp->rq, qp->qp.pd, UHCAV_RESOURCE_RECV_NOTES);
	return err;
}

static void free_notes(struct uhcav_qp *qp)
{
	uhcav_work_queue_free_notes(&qp->sq, UHCAV_RESOURCE_SEND_NOTES);
	uhcav_work_queue_free_notes(&qp->rq, UHCAV_RESOURCE_RECV_NOTES);
}

static int map_queues(struct uhcav_qp *qp, const struct uhca_cmd_create_qp_reply *r, int fd)
{
	uint32_t limit = qp->ctx->gather_limit;
	void *base;
	int err = uhcav_context_map(fd, r->region_size, true, UHCA_ABI_REGION_QP, &base);

	if (err)
		return err;
	qp->page = base;
	qp->region_size = r->region_size;
	err = init_queues(qp, r);
	if (err) {
		free_notes(qp);
		munmap(base, r->region_size);
		return err;
	}
	qp->send_data = (uint8_t *)base + r->send.data_offset;
	qp->data_stride = r->send.data_stride;
	qp->gather_limit = limit < qp->data_stride ? limit : qp->data_stride;
	qp->max_inline_data =
		r->max_inline_data < qp->data_stride ? r->max_inline_data : qp->data_stride;
	return 0;
}

static void store_reply(struct uhcav_qp *qp, const struct uhca_cmd_create_qp_reply *r)
{
	qp->doorbell = r->doorbell;
	qp->cap.max_send_wr = r->max_send_wr;
	qp->cap.max_recv_wr = r->max_recv_wr;
	qp->cap.max_send_sge = r->max_send_sge;
	qp->cap.max_recv_sge = r->max_recv_sge;
	qp->cap.max_inline_data = qp->max_inline_data;
	qp->qp.handle = r->handle;
	qp->qp.qp_num = r->qpn;
}

static int attach_cqs(struct uhcav_qp *qp)
{
	struct uhcav_cq *send = uhcav_cq_of(qp->qp.send_cq);
	struct uhcav_cq *recv = uhcav_cq_of(qp->qp.recv_cq); /* NULL: sends only */
	int err = uhcav_cq_attach(send, qp->qp.qp_num, qp);

	if (err)
		return err;
	qp->sq.leaves_when_taken = send->ignore_overrun;
	if (!recv)
		return 0;
	if (recv->ignore_overrun)
		uhcav_qp_rq(qp)->leaves_when_taken = true;
	if (send == recv)
		return 0;
	err = uhcav_cq_attach(recv, qp->qp.qp_num, qp);
	if (err)
		uhcav_cq_detach(send, qp->qp.qp_num);
	return err;
}

static int open_qp(struct uhcav_qp *qp, const struct ibv_qp_init_attr *attr,
		   uint32_t max_list_bytes)
{
	struct uhca_cmd_create_qp_reply reply;
	int fd;
	int err = create_command(qp, attr, max_list_bytes, &reply, &fd);

	if (err)
		return err;
	err = reply.doorbell < UHCA_ABI_DOORBELL_MAX ? 0 : -EPROTO;
	if (err)
		uhcav_close(fd);
	else
		err = map_queues(qp, &reply, fd);
	if (err)
		goto err_destroy;
	store_reply(qp, &reply);
	err = attach_cqs(qp);
	if (err)
		goto err_unmap;
	return 0;

err_unmap:
	free_notes(qp);
	munmap(qp->page, qp->region_size);
err_destroy:
	uhcav_context_call_handle(qp->ctx, UHCA_CMD_DESTROY_QP, reply.handle);
	return err;
}

static struct uhcav_qp *alloc_qp(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	struct uhcav_qp *qp = uhcav_qp_alloc(pd->context, attr->qp_type, attr->qp_context,
					     uhcav_pd_single_threaded(pd));

	if (!qp)
		return NULL;
	qp->sq_sig_all = attr->sq_sig_all != 0;
	qp->send_mask = send_mask(attr->qp_type);
	qp->qp.pd = pd;
	qp->qp.send_cq = attr->send_cq;
	if (attr->qp_type != IBV_QPT_XRC_SEND) {
		qp->qp.recv_cq = attr->recv_cq;
		qp->qp.srq = attr->srq;
	}
	return qp;
}

/*
 * Handles are numbers of a context: those of objects of another one may name something here. A
 * CQ's context is set by the library, an SRQ's too.
 */
static int check_all_of(struct ibv_context *ibctx, const struct ibv_qp_init_attr *attr)
{
	bool receives = attr->qp_type != IBV_QPT_XRC_SEND;
	const char *which = NULL;

	if (!attr->send_cq || attr->send_cq->context != ibctx)
		which = "send_cq";
	else if (receives && (!attr->recv_cq || attr->recv_cq->context != ibctx))
		which = "recv_cq";
	else if (receives && attr->srq && attr->srq->context != ibctx)
		which = "srq";
	return which ? uhcav_refuse(uhcav_context_of(ibctx), "create_qp", -EINVAL,
				    "%s is not of this context", which)
		     : 0;
}

int uhcav_qp_new(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr, struct uhcav_qp **out)
{
	int err;

	if (!type_supported(attr->qp_type))
		return uhcav_refuse(uhcav_context_of(pd->context), "create_qp", -EOPNOTSUPP,
				    "qp_type %d is not supported by the device",
				    (int)attr->qp_type);
	err = check_all_of(pd->context, attr);
	if (err)
		return err;
	*out = alloc_qp(pd, attr);
	return *out ? 0 : -ENOMEM;
}

int uhcav_qp_open(struct uhcav_qp *qp, struct ibv_qp_init_attr *attr, uint32_t max_list_bytes)
{
	int err = open_qp(qp, attr, max_list_bytes);

	if (err)
		return err;
	qp->parent = uhcav_parent_domain_join(qp->qp.pd);
	qp->inside.domain = uhcav_parent_domain_inside(qp->parent);
	attr->cap = qp->cap;
	return 0;
}

struct ibv_qp *uhcav_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct uhcav_qp *qp = NULL;
	int err = uhcav_qp_new(pd, attr, &qp);

	if (!err)
		err = uhcav_qp_open(qp, attr, 0);
	return uhcav_qp_finish(qp, err);
}

/* Completions that were not polled are gone; receives of an SRQ leave it with them. */
static void skip_completions(struct uhcav_qp *qp)
{
	struct uhcav_cq *send = uhcav_cq_of(qp->qp.send_cq);
	struct uhcav_cq *recv = uhcav_cq_of(qp->qp.recv_cq);
	struct uhcav_work_queue *srq = qp->qp.srq ? uhcav_qp_rq(qp) : NULL;

	if (send)
		uhcav_cq_skip(send, qp->qp.qp_num, srq);
	if (recv)
		uhcav_cq_skip(recv, qp->qp.qp_num, srq);
}

/* Work requests and completions of the time before are gone (IBTA vol. 1, 10.3.1.2). */
static void forget_work(struct uhcav_qp *qp)
{
	struct uhcav_cq *send = uhcav_cq_of(qp->qp.send_cq);
	struct uhcav_cq *recv = uhcav_cq_of(qp->qp.recv_cq);

	skip_completions(qp);
	if (send) {
		uhcav_lock(&send->lock);
		uhcav_qp_forget_sends(qp);
		uhcav_unlock(&send->lock);
	}
	if (recv) {
		uhcav_lock(&recv->lock);
		uhcav_qp_forget_recvs(qp);
		uhcav_unlock(&recv->lock);
	}
}

int uhcav_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhca_cmd_modify_qp request = {.handle = ibqp->handle,
					     .attr_mask = (uint32_t)attr_mask};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_MODIFY_QP, &request);
	int err;

	uhcav_qp_attr_to_abi(attr, attr_mask, &request.attr);
	err = uhcav_context_call(qp->ctx, &call);
	if (err || !(attr_mask & IBV_QP_STATE))
		return uhcav_result(err);
	if (attr->qp_state == IBV_QPS_RESET) {
		forget_work(qp);
		__atomic_store_n(&qp->peer_lacks, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&qp->state, (uint32_t)attr->qp_state, __ATOMIC_RELEASE);
	return 0;
}

/* A burst is a packet at least; what packets are typical tells no more than that. */
int uhcav_modify_qp_rate_limit(struct ibv_qp *ibqp, struct ibv_qp_rate_limit_attr *attr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhca_cmd_modify_qp request = {
		.handle = ibqp->handle,
		.attr_mask = IBV_QP_RATE_LIMIT,
		.attr = {.rate_limit = attr->rate_limit, .max_burst_sz = attr->max_burst_sz}};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_MODIFY_QP, &request);

	if (attr->comp_mask)
		return uhcav_failed(uhcav_refuse(qp->ctx, "modify_qp_rate_limit", EINVAL,
						 "comp_mask 0x%x has unknown bits",
						 attr->comp_mask));
	if (attr->max_burst_sz && attr->max_burst_sz < attr->typical_pkt_sz)
		request.attr.max_burst_sz = attr->typical_pkt_sz;
	return uhcav_result(uhcav_context_call(qp->ctx, &call));
}

static void fill_init_attr(const struct uhcav_qp *qp, struct ibv_qp_init_attr *init)
{
	memset(init, 0, sizeof(*init));
	init->qp_context = qp->qp.qp_context;
	init->send_cq = qp->qp.send_cq;
	init->recv_cq = qp->qp.recv_cq;
	init->srq = qp->qp.srq;
	init->cap = qp->cap;
	init->qp_type = qp->qp.qp_type;
	init->sq_sig_all = qp->sq_sig_all;
}

int uhcav_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhca_cmd_handle request = {.handle = ibqp->handle};
	struct uhca_cmd_query_qp_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_QP, &request, &reply);
	int err = uhcav_context_call(qp->ctx, &call);

	(void)attr_mask; /* says what the caller needs at least; it gets all */
	if (err)
		return uhcav_result(err);
	uhcav_qp_attr_from_abi(&reply.attr, attr);
	attr->cap = qp->cap;
	fill_init_attr(qp, init_attr);
	/* The device may have moved the QP to an error state by itself. */
	__atomic_store_n(&qp->state, reply.attr.qp_state, __ATOMIC_RELEASE);
	return 0;
}

int uhcav_destroy_qp(struct ibv_qp *ibqp)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhcav_cq *send = uhcav_cq_of(ibqp->send_cq);
	struct uhcav_cq *recv = uhcav_cq_of(ibqp->recv_cq);
	int err = uhcav_context_call_destroy(uhcav_context_of(ibqp->context), UHCA_CMD_DESTROY_QP,
					     ibqp->handle);

	if (err)
		return uhcav_result(err);
	if (uhcav_life(qp->ctx) != UHCAV_FORKED) {
		skip_completions(qp);
		uhcav_async_settle(qp->ctx, UHCAV_ASYNC_UNREAD(qp, qp));
	}
	if (send)
		uhcav_cq_detach(send, ibqp->qp_num);
	if (recv)
		uhcav_cq_detach(recv, ibqp->qp_num);
	if (qp->page)
		munmap(qp->page, qp->region_size);
	free_notes(qp);
	uhcav_parent_domain_part(qp->parent);
	uhcav_let_go(qp);
	return 0;
}

static int mcast(struct ibv_qp *ibqp, uint32_t cmd, const union ibv_gid *gid, uint16_t lid)
{
	struct uhca_cmd_mcast request = {.qp = ibqp->handle, .mlid = lid};
	struct uhcav_call call = UHCAV_CALL_PLAIN(cmd, &request);

	memcpy(request.gid, gid->raw, sizeof(request.gid));
	return uhcav_result(uhcav_context_call(uhcav_context_of(ibqp->context), &call));
}

int uhcav_attach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid)
{
	return mcast(ibqp, UHCA_CMD_ATTACH_MCAST, gid, lid);
}

int uhcav_detach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid)
{
	return mcast(ibqp, UHCA_CMD_DETACH_MCAST, gid, lid);
}
