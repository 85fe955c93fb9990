/* SPDX-License-Identifier: BSD-2-Clause */
/* See vclient.h: queue pairs and shared receive queues, and their way to RTS. */
#include "vclient.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The client's end of a ring as the create reply describes it. */
static void ring_construct(struct vring *r, const struct uhca_abi_queue_layout *at,
			   const struct core_ring *region, struct uhca_abi_ring *indices)
{
	*r = (struct vring){.at = *at, .ring = indices, .base = region->base};
	assert((at->entries & (at->entries - 1)) == 0);
	assert(at->offset + (uint64_t)at->entries * at->stride <= region->size);
	if (at->data_stride)
		assert(at->data_offset + (uint64_t)at->entries * at->data_stride <= region->size);
}

static struct uhca_cmd_create_qp create_message(const struct vqp_init *i, struct vqp *qp)
{
	struct uhca_cmd_create_qp in = {
		.cookie = (uintptr_t)qp,
		.pd = i->pd ? i->pd : qp->c->pd,
		.qp_type = i->type ? i->type : IBV_QPT_RC,
		.send_cq = i->send_cq ? i->send_cq->handle : 0,
		.recv_cq = i->recv_cq ? i->recv_cq->handle : 0,
		.xrcd = i->xrcd,
		.create_flags = i->create_flags,
		.srq = i->srq ? i->srq->handle : 0,
		.max_send_wr = i->max_send_wr ? i->max_send_wr : 64,
		.max_recv_wr = i->max_recv_wr ? i->max_recv_wr : 64,
		.max_send_sge = i->max_send_sge ? i->max_send_sge : 4,
		.max_recv_sge = i->max_recv_sge ? i->max_recv_sge : 4,
		.max_inline_data = i->max_inline_data,
		.sq_sig_all = i->sq_sig_all,
	};

	if (i->srq)
		in.max_recv_wr = in.max_recv_sge = 0;
	return in;
}

int vqp_create(struct vclient *c, const struct vqp_init *init, struct vqp *out)
{
	struct uhca_cmd_create_qp in;
	struct uhca_cmd_create_qp_reply reply = {0};
	int rc;

	memset(out, 0, sizeof *out);
	out->c = c;
	in = create_message(init, out);
	rc = core_create_qp(c->core, &in, &reply, &out->region);
	if (rc)
		return rc;
	assert(reply.region_size <= out->region.size);
	out->type = in.qp_type;
	out->handle = reply.handle;
	out->qpn = reply.qpn;
	out->doorbell = reply.doorbell;
	out->max_inline = reply.max_inline_data;
	out->send_cq = init->send_cq;
	out->recv_cq = init->recv_cq;
	out->srq = init->srq;
	out->page = out->region.base;
	ring_construct(&out->send, &reply.send, &out->region, &out->page->send);
	ring_construct(&out->recv, &reply.recv, &out->region, &out->page->recv);
	out->send.max_wr = reply.max_send_wr;
	out->send.max_sge = reply.max_send_sge;
	out->recv.max_wr = reply.max_recv_wr;
	out->recv.max_sge = reply.max_recv_sge;
	return 0;
}

/* Marks what the CQ still holds of a QP number that is gone, as the provider does. */
static void skip_entries(struct vcq *cq, uint32_t qpn)
{
	for (uint32_t i = cq->consumer;; i++) {
		struct uhca_abi_cqe *e =
			(void *)(cq->slots + (size_t)(i & (cq->entries - 1)) * cq->stride);

		if (uhca_ring_observe(&e->sequence) != i + 1)
			return;
		if (e->qpn == qpn)
			e->flags |= UHCA_ABI_WC_SKIP;
	}
}

/* A QP that is reset or destroyed leaves nothing in its CQs. */
static void forget_completions(struct vqp *qp)
{
	if (qp->send_cq)
		skip_entries(qp->send_cq, qp->qpn);
	if (qp->recv_cq)
		skip_entries(qp->recv_cq, qp->qpn);
}

int vqp_destroy(struct vqp *qp)
{
	int rc = core_destroy_qp(qp->c->core, qp->handle);

	qp->c->host->dirty = true;
	if (rc)
		return rc;
	forget_completions(qp);
	return 0;
}

int vqp_modify(struct vqp *qp, uint32_t mask, const struct uhca_abi_qp_attr *attr)
{
	struct uhca_cmd_modify_qp in = {.handle = qp->handle, .attr_mask = mask, .attr = *attr};
	int rc = core_modify_qp(qp->c->core, &in, *qp->c->host->now);

	qp->c->host->dirty = true;
	if (rc == 0 && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		forget_completions(qp);
	return rc;
}

int vqp_to_state(struct vqp *qp, enum ibv_qp_state state)
{
	return vqp_modify(qp, IBV_QP_STATE, &(struct uhca_abi_qp_attr){.qp_state = state});
}

enum ibv_qp_state vqp_state(struct vqp *qp)
{
	struct uhca_cmd_query_qp_reply out = {0};
	int rc = core_query_qp(qp->c->core, qp->handle, &out);

	assert(rc == 0);
	(void)rc;
	return out.attr.qp_state;
}

struct vqp_conn vqp_conn_default(void)
{
	return (struct vqp_conn){
		.mtu = IBV_MTU_1024,
		.sq_psn = 100,
		.rq_psn = 5000,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.max_rd_atomic = 8,
		.max_dest_rd_atomic = 8,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.qkey = 0x11111111,
	};
}

/* Both halves of XRC are set alike, as programs do it. */
static bool is_reliable(const struct vqp *qp)
{
	return qp->type == IBV_QPT_RC || qp->type == IBV_QPT_XRC_SEND ||
	       qp->type == IBV_QPT_XRC_RECV;
}

int vqp_init(struct vqp *qp, const struct vqp_conn *conn)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_INIT,
					.port_num = 1,
					.qp_access_flags = conn->access,
					.qkey = conn->qkey};
	uint32_t mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (qp->type == IBV_QPT_UD)
		return vqp_modify(qp, mask | IBV_QP_QKEY, &attr);
	if (qp->type == IBV_QPT_UC)
		attr.qp_access_flags &= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return vqp_modify(qp, mask | IBV_QP_ACCESS_FLAGS, &attr);
}

int vqp_rtr(struct vqp *qp, const struct vqp_conn *conn, const struct vhost *to, uint32_t qpn)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_RTR,
					.path_mtu = conn->mtu,
					.dest_qp_num = qpn,
					.rq_psn = conn->rq_psn,
					.max_dest_rd_atomic = conn->max_dest_rd_atomic,
					.min_rnr_timer = conn->min_rnr_timer,
					.ah = {.is_global = 1,
					       .port_num = 1,
					       .hop_limit = 64,
					       .sgid_index = conn->gid_index}};
	uint32_t mask =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (qp->type == IBV_QPT_UD)
		return vqp_modify(qp, IBV_QP_STATE, &attr);
	memcpy(attr.ah.dgid, to->gid[conn->gid_index], 16);
	if (is_reliable(qp))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return vqp_modify(qp, mask, &attr);
}

int vqp_rts(struct vqp *qp, const struct vqp_conn *conn)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_RTS,
					.sq_psn = conn->sq_psn,
					.timeout = conn->timeout,
					.retry_cnt = conn->retry_cnt,
					.rnr_retry = conn->rnr_retry,
					.max_rd_atomic = conn->max_rd_atomic};
	uint32_t mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (is_reliable(qp))
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return vqp_modify(qp, mask, &attr);
}

void vqp_connect(struct vqp *a, struct vqp *b, const struct vqp_conn *conn)
{
	struct vqp_conn mirror = *conn;
	int rc;

	mirror.sq_psn = conn->rq_psn;
	mirror.rq_psn = conn->sq_psn;
	rc = vqp_init(a, conn);
	rc = rc ? rc : vqp_rtr(a, conn, b->c->host, b->qpn);
	rc = rc ? rc : vqp_rts(a, conn);
	assert(rc == 0);
	if (a == b) /* a QP may be connected to itself; then its PSNs must be equal */
		return;
	rc = vqp_init(b, &mirror);
	rc = rc ? rc : vqp_rtr(b, &mirror, a->c->host, a->qpn);
	rc = rc ? rc : vqp_rts(b, &mirror);
	assert(rc == 0);
}

void vqp_activate(struct vqp *qp, const struct vqp_conn *conn)
{
	int rc = vqp_init(qp, conn);

	rc = rc ? rc : vqp_rtr(qp, conn, NULL, 0);
	rc = rc ? rc : vqp_rts(qp, conn);
	assert(rc == 0);
	(void)rc;
}

static int srq_create(struct vclient *c, const struct uhca_cmd_create_srq *in, struct vsrq *out)
{
	struct uhca_cmd_create_srq_reply reply = {0};
	int rc;

	memset(out, 0, sizeof *out);
	out->c = c;
	rc = core_create_srq(c->core, in, &reply, &out->region);
	if (rc)
		return rc;
	assert(reply.region_size <= out->region.size);
	out->handle = reply.handle;
	out->srq_num = reply.srq_num;
	ring_construct(&out->recv, &reply.recv, &out->region,
		       &((struct uhca_abi_queue *)out->region.base)->recv);
	out->recv.max_wr = reply.max_wr;
	out->recv.max_sge = reply.max_sge;
	return 0;
}

int vsrq_create(struct vclient *c, uint32_t max_wr, uint32_t max_sge, uint32_t limit,
		struct vsrq *out)
{
	struct uhca_cmd_create_srq in = {.cookie = (uintptr_t)out,
					 .pd = c->pd,
					 .max_wr = max_wr,
					 .max_sge = max_sge,
					 .srq_limit = limit,
					 .srq_type = IBV_SRQT_BASIC};

	return srq_create(c, &in, out);
}

int vsrq_create_xrc(struct vclient *c, uint32_t xrcd, struct vcq *cq, uint32_t max_wr,
		    struct vsrq *out)
{
	struct uhca_cmd_create_srq in = {.cookie = (uintptr_t)out,
					 .pd = c->pd,
					 .max_wr = max_wr,
					 .max_sge = 1,
					 .srq_type = IBV_SRQT_XRC,
					 .xrcd = xrcd,
					 .cq = cq->handle};

	return srq_create(c, &in, out);
}

int vxrcd_open(struct vclient *c, const uint64_t file[2], uint32_t *handle)
{
	struct uhca_cmd_open_xrcd in = {.oflags = UHCA_ABI_XRCD_CREATE, .unshared = !file};

	return core_open_xrcd(c->core, &in, file, handle);
}

int vqp_open(struct vclient *c, uint32_t xrcd, uint32_t qpn, struct vqp *out)
{
	struct uhca_cmd_open_qp in = {
		.cookie = (uintptr_t)out, .xrcd = xrcd, .qpn = qpn, .qp_type = IBV_QPT_XRC_RECV};
	struct uhca_cmd_open_qp_reply reply = {0};
	int rc;

	memset(out, 0, sizeof *out);
	out->c = c;
	out->type = IBV_QPT_XRC_RECV;
	rc = core_open_qp(c->core, &in, &reply, &out->region);
	out->handle = reply.handle;
	out->qpn = qpn;
	return rc;
}

int vsrq_destroy(struct vsrq *srq)
{
	return core_destroy_srq(srq->c->core, srq->handle);
}

int vsrq_arm(struct vsrq *srq, uint32_t limit)
{
	struct uhca_cmd_modify_srq in = {
		.handle = srq->handle, .attr_mask = IBV_SRQ_LIMIT, .srq_limit = limit};

	return core_modify_srq(srq->c->core, &in);
}
