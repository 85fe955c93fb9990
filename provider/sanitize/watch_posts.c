/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_post_send, ibv_post_recv, ibv_post_srq_recv, and ibv_wr_*, whose requests stand in the ring.
 */
#include "watch.h"

#include "forking.h"
#include "lifetime.h"
#include "posting.h"
#include "provider/base/base.h"
#include "provider/connection/connection.h"
#include "provider/crash/crash.h"
#include "provider/gone/gone.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/post/post.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

/* A context that is dead, or a parent's, has nothing to watch. */
static struct uhcav_shadow *alive(const struct uhcav_context *ctx, struct uhcav_shadow *s)
{
	return uhcav_life(ctx) == UHCAV_ALIVE ? s : NULL;
}

/* Around a post to a QP's queue. */
static void begin(struct uhcav_posting *p, struct uhcav_qp *qp, struct uhcav_shadow *s,
		  struct uhcav_here here)
{
	const struct uhcav_stack *stack = uhcav_stack_take(here);

	uhcav_memory_settle();
	uhcav_lifetime_enter(&qp->inside, &qp->qp, qp->sq.lock.off, here, stack);
	uhcav_posting_begin(p, s, stack);
}

static void finish(struct uhcav_posting *p, struct uhcav_qp *qp, uint32_t posted, int err)
{
	uhcav_posting_end(p, posted, err);
	uhcav_inside_leave(&qp->inside);
}

static struct uhcav_request request_of(const struct uhcav_qp *qp, const struct ibv_send_wr *wr,
				       uint32_t index)
{
	struct uhcav_request r = {.wr_id = wr->wr_id,
				  .index = index,
				  .opcode = (uint8_t)wr->opcode,
				  .signaled = wr->send_flags & IBV_SEND_SIGNALED,
				  .fenced = wr->send_flags & IBV_SEND_FENCE,
				  .inlined = wr->send_flags & IBV_SEND_INLINE,
				  .direction = wr->send_flags & IBV_SEND_INLINE
						       ? UHCAV_LOCAL_NONE
						       : uhcav_posting_direction(wr->opcode)};

	if (qp->qp.qp_type == IBV_QPT_UD) {
		r.ah = wr->wr.ud.ah ? wr->wr.ud.ah->handle : 0;
		r.to_qp = wr->wr.ud.remote_qpn;
		r.to = wr->wr.ud.ah;
		return r;
	}
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		r.remote_addr = wr->wr.atomic.remote_addr;
		r.rkey = wr->wr.atomic.rkey;
	} else if (wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_RDMA_WRITE ||
		   wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
		   (unsigned)wr->opcode == UHCA_ABI_WR_ATOMIC_WRITE) {
		r.remote_addr = wr->wr.rdma.remote_addr;
		r.rkey = wr->wr.rdma.rkey;
	}
	return r;
}

/* Does a request name an object that was destroyed? */
static struct ibv_send_wr *find_gone(struct uhcav_here here, const struct ibv_qp *qp,
				     struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		if ((qp->qp_type == IBV_QPT_UD &&
		     uhcav_gone_report_argument(here, "ibv_post_send", wr->wr.ud.ah)) ||
		    (wr->opcode == IBV_WR_BIND_MW &&
		     uhcav_gone_report_argument(here, "ibv_post_send", wr->bind_mw.mw)))
			return wr;
	return NULL;
}

static void look_at_datagram(const struct uhcav_qp *qp, const struct ibv_send_wr *wr,
			     const struct uhcav_stack *posted)
{
	if (qp->qp.qp_type == IBV_QPT_UD && wr->wr.ud.ah)
		uhcav_datagram_look(&(struct uhcav_datagram){
			.who = {qp->ctx, qp->qp.handle},
			.ah = wr->wr.ud.ah->handle,
			.qpn = wr->wr.ud.remote_qpn,
			.qkey = wr->wr.ud.remote_qkey,
			.posted = posted,
		});
}

static int post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhcav_shadow *s = alive(qp->ctx, qp->send_shadow);
	struct ibv_send_wr *w;
	struct uhcav_posting p;
	uint32_t posted = 0;
	int err;

	uhcav_crash_enter("ibv_post_send", ibqp);
	w = find_gone(UHCAV_HERE, ibqp, wr);
	if (w && w == wr) {
		*bad_wr = w;
		return EINVAL;
	}
	if (!s) {
		uhcav_forking_used(UHCAV_HERE, qp->ctx, "ibv_post_send");
		return uhcav_post_send(ibqp, wr, bad_wr);
	}
	begin(&p, qp, s, UHCAV_HERE);
	for (w = wr; w; w = w->next) {
		struct uhcav_request r = request_of(qp, w, qp->sq.producer + p.entered);
		uhcav_posting_add(&p, &r, w->sg_list, (size_t)(w->num_sge < 0 ? 0 : w->num_sge));
	}
	err = uhcav_post_send(ibqp, wr, bad_wr);
	for (w = wr; w && (!err || w != *bad_wr); w = w->next, posted++)
		look_at_datagram(qp, w, p.stack);
	finish(&p, qp, posted, err);
	return err;
}

static void add_recvs(struct uhcav_posting *p, uint32_t index, const struct ibv_recv_wr *wr)
{
	for (; wr; wr = wr->next) {
		struct uhcav_request r = {.wr_id = wr->wr_id,
					  .index = index++,
					  .signaled = true,
					  .direction = UHCAV_LOCAL_WRITE};
		uhcav_posting_add(p, &r, wr->sg_list, (size_t)(wr->num_sge < 0 ? 0 : wr->num_sge));
	}
}

static uint32_t count_recvs(const struct ibv_recv_wr *wr, const struct ibv_recv_wr *end)
{
	uint32_t n = 0;

	for (; wr && wr != end; wr = wr->next)
		n++;
	return n;
}

static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhcav_shadow *s = alive(qp->ctx, qp->recv_shadow);
	struct uhcav_posting p;
	int err;

	uhcav_crash_enter("ibv_post_recv", ibqp);
	if (!s) {
		uhcav_forking_used(UHCAV_HERE, qp->ctx, "ibv_post_recv");
		return uhcav_post_recv(ibqp, wr, bad_wr);
	}
	begin(&p, qp, s, UHCAV_HERE);
	add_recvs(&p, qp->rq.producer, wr);
	err = uhcav_post_recv(ibqp, wr, bad_wr);
	finish(&p, qp, count_recvs(wr, err ? *bad_wr : NULL), err);
	return err;
}

static int post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	struct uhcav_shadow *s = alive(srq->ctx, srq->shadow);
	const struct uhcav_stack *stack;
	struct uhcav_posting p;
	int err;

	uhcav_crash_enter("ibv_post_srq_recv", ibsrq);
	if (!s) {
		uhcav_forking_used(UHCAV_HERE, srq->ctx, "ibv_post_srq_recv");
		return uhcav_post_srq_recv(ibsrq, wr, bad_wr);
	}
	stack = uhcav_stack_take(UHCAV_HERE);
	uhcav_lifetime_enter(&srq->inside, ibsrq, srq->rq.lock.off, UHCAV_HERE, stack);
	uhcav_misuse_used_on(&s->undrained, s->number, UHCAV_HERE);
	uhcav_posting_begin(&p, s, stack);
	add_recvs(&p, srq->rq.producer, wr);
	err = uhcav_post_srq_recv(ibsrq, wr, bad_wr);
	uhcav_posting_end(&p, count_recvs(wr, err ? *bad_wr : NULL), err);
	uhcav_inside_leave(&srq->inside);
	return err;
}

/* ---- ibv_wr_* ---- */

/* The functions that stood in the QPs: the same in all of them. */
static void (*real_start)(struct ibv_qp_ex *qp);
static int (*real_complete)(struct ibv_qp_ex *qp);

static struct uhcav_request request_in(const struct uhcav_qp *qp,
				       const struct uhca_abi_send_wqe *wqe, uint32_t index)
{
	struct uhcav_request r = {.wr_id = wqe->wr_id,
				  .index = index,
				  .opcode = wqe->opcode,
				  .signaled = wqe->flags & UHCA_ABI_SEND_SIGNALED,
				  .fenced = wqe->flags & UHCA_ABI_SEND_FENCE,
				  .inlined = wqe->flags & UHCA_ABI_SEND_INLINE,
				  .direction = wqe->flags & UHCA_ABI_SEND_INLINE
						       ? UHCAV_LOCAL_NONE
						       : uhcav_posting_direction(wqe->opcode)};

	if (r.inlined)
		r.remote_length = wqe->inline_length;
	if (qp->qp.qp_type == IBV_QPT_UD) {
		r.ah = wqe->ud.ah;
		r.to_qp = wqe->ud.remote_qpn;
		return r;
	}
	if (wqe->opcode == IBV_WR_RDMA_READ || wqe->opcode == IBV_WR_RDMA_WRITE ||
	    wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wqe->opcode == UHCA_ABI_WR_ATOMIC_WRITE) {
		r.remote_addr = wqe->rdma.remote_addr;
		r.rkey = wqe->rdma.rkey;
	} else if (r.direction == UHCAV_LOCAL_WRITE) {
		r.remote_addr = wqe->atomic.remote_addr;
		r.rkey = wqe->atomic.rkey;
	}
	return r;
}

/*
 * What the builders wrote is there and nobody has been told of it yet. The queue's lock is held, as
 * man ibv_wr_start says, so nobody else posts.
 */
static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = uhcav_qp_of(&qpx->qp_base);
	struct uhcav_shadow *s = qp->send_shadow;
	uint32_t end = qp->sq.producer;
	struct uhcav_posting p;
	int err;

	if (!s)
		return real_complete(qpx);
	p = (struct uhcav_posting){
		.s = s, .stack = uhcav_stack_take(UHCAV_HERE), .wr_id = qpx->wr_id};
	for (uint32_t i = qp->build.start; i != end && !qp->build.err; i++) {
		const struct uhca_abi_send_wqe *wqe = uhcav_send_slot(qp, i);
		struct uhcav_request r = request_in(qp, wqe, i);
		uhcav_posting_add(&p, &r, (const struct ibv_sge *)(const void *)(wqe + 1),
				  wqe->num_sge);
		if (qp->qp.qp_type == IBV_QPT_UD)
			uhcav_datagram_look(&(struct uhcav_datagram){
				.who = {qp->ctx, qp->qp.handle},
				.ah = wqe->ud.ah,
				.qpn = wqe->ud.remote_qpn,
				.qkey = wqe->ud.remote_qkey,
				.posted = p.stack,
			});
	}
	err = real_complete(qpx);
	finish(&p, qp, err ? 0 : p.entered, err);
	return err;
}

/* "posting" comes before the queue's lock, which start takes. */
static void wr_start(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = uhcav_qp_of(&qpx->qp_base);

	uhcav_crash_enter("ibv_wr_*", qpx);
	if (qp->send_shadow) {
		uhcav_lifetime_enter(&qp->inside, &qp->qp, qp->sq.lock.off, UHCAV_HERE,
				     uhcav_stack_take(UHCAV_HERE));
		pthread_mutex_lock(&qp->send_shadow->posting);
	}
	real_start(qpx);
}

static void (*real_abort)(struct ibv_qp_ex *qp);

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = uhcav_qp_of(&qpx->qp_base);

	real_abort(qpx);
	if (qp->send_shadow) {
		pthread_mutex_unlock(&qp->send_shadow->posting);
		uhcav_inside_leave(&qp->inside);
	}
}

void uhcav_watch_wr(struct ibv_qp *qp)
{
	struct ibv_qp_ex *qpx = &uhcav_qp_of(qp)->qpx;

	real_start = qpx->wr_start;
	real_complete = qpx->wr_complete;
	real_abort = qpx->wr_abort;
	qpx->wr_start = wr_start;
	qpx->wr_complete = wr_complete;
	qpx->wr_abort = wr_abort;
}

const struct uhcav_watch uhcav_watch_posts[] = {
	{"poll_cq", (void *)uhcav_watch_poll_cq},
	{"post_recv", (void *)post_recv},
	{"post_send", (void *)post_send},
	{"post_srq_recv", (void *)post_srq_recv},
	{NULL, NULL},
};
