/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See watch.h. The provider keeps how far a QP's send queue has completed (queue_pair.h): what
 * the shadow has before that is done; receives are found by wr_id. Both are looked at under the
 * CQ's lock, because the QP may be destroyed by another thread as soon as it is given up; what they
 * hold is judged behind it.
 */
#include "watch.h"

#include "capacity.h"
#include "inflight.h"
#include "keys.h"
#include "lifetime.h"
#include "provider/base/base.h"
#include "provider/crash/crash.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/poll/poll.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"
#include "shadow.h"
#include "words.h"

#define BATCH 16u

/* Of one queue, what a completion has brought to an end; the shadow's names are copied. */
struct batch {
	struct uhcav_shadow of; /* what it is called: not to be used as a queue */
	struct uhcav_request requests[BATCH];
	uint32_t n;
	uint32_t end; /* of a send queue: what is before this index is complete */
};

static void note(struct batch *b, const struct uhcav_shadow *s)
{
	b->of = *s;
	b->of.requests = NULL;
}

/* Under the CQ's lock. */
static void collect(struct uhcav_here here, struct uhcav_cq *cq, const struct ibv_wc *wc,
		    struct batch *b)
{
	struct uhcav_qp *qp = uhcav_number_map_find(&cq->qps, wc->qp_num);
	bool recv = wc->opcode & IBV_WC_RECV;
	struct uhcav_shadow *s;

	b->n = 0;
	if (!qp)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		uhcav_capacity_failed(qp->send_shadow, here, wc->status);
		uhcav_capacity_failed(qp->recv_shadow, here, wc->status);
	}
	s = !recv        ? qp->send_shadow
	    : qp->qp.srq ? uhcav_srq_of(qp->qp.srq)->shadow
			 : qp->recv_shadow;
	if (!s)
		return;
	note(b, s);
	b->end = qp->sq.polled;
	/* Each receive completes for itself, and its length is this completion's. */
	b->n = recv ? uhcav_shadow_complete_one(s, wc->wr_id, b->requests)
		    : uhcav_shadow_complete(s, qp->sq.polled, b->requests, BATCH);
}

/* Was what its wr_id points to freed since the post? */
static void look_at_id(struct uhcav_here here, const struct uhcav_shadow *s,
		       const struct uhcav_request *r)
{
	const struct uhcav_stack *freed, *polled;

	if (uhcav_frees_now() == r->since || !uhcav_check_on(UHCA_CHECK_WR_ID_FREED))
		return;
	freed = uhcav_frees_find(r->wr_id, r->since);
	polled = freed ? uhcav_stack_take(here) : NULL;
	if (!freed || !uhcav_diagnostic_is_new(UHCA_CHECK_WR_ID_FREED, polled, freed))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_WR_ID_FREED,
			       "a completion's wr_id points to memory that was freed");
	uhcav_words_request(s, r);
	uhcav_diagnostic_stack(polled, "polled by");
	uhcav_diagnostic_stack(freed, "freed by");
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_tell();
}

/* Its memory may be gone, or its key, or the rights. */
static void look_at_refused(struct uhcav_here here, const struct uhcav_shadow *s,
			    const struct uhcav_request *r, enum ibv_wc_status status)
{
	uhcav_inflight_target(s, r);
	if (status != IBV_WC_REM_OP_ERR)
		uhcav_keys_refused(here, s, r, status);
}

/*
 * A failed request's buffers hold anything, and so do its successors'. A WRITE with immediate data
 * takes a receive and leaves its buffers alone.
 */
static void judge(struct uhcav_here here, struct batch *b, const struct ibv_wc *wc)
{
	bool refused = b->n && b->of.is_send &&
		       (wc->status == IBV_WC_REM_ACCESS_ERR ||
			wc->status == IBV_WC_REM_INV_REQ_ERR || wc->status == IBV_WC_REM_OP_ERR);
	bool good = wc->status == IBV_WC_SUCCESS && wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM;

	for (uint32_t i = 0; i < b->n; i++) {
		uhcav_request_open(&b->requests[i]);
		if (b->requests[i].wr_id == wc->wr_id)
			look_at_id(here, &b->of, &b->requests[i]);
		if (good)
			uhcav_inflight_end(here, &b->of, &b->requests[i], wc->byte_len);
		if (refused && b->requests[i].index + 1 == b->end)
			look_at_refused(here, &b->of, &b->requests[i], wc->status);
		uhcav_request_free(&b->requests[i]);
	}
}

static void settle(struct uhcav_here here, struct uhcav_cq *cq, const struct ibv_wc *wc,
		   bool locked)
{
	struct batch b;

	do {
		if (!locked)
			uhcav_lock(&cq->lock);
		collect(here, cq, wc, &b);
		if (!locked)
			uhcav_unlock(&cq->lock);
		judge(here, &b, wc);
	} while (b.n == BATCH);
}

/* Who has polled, found or not, has looked. */
static void polled(struct uhcav_cq *cq)
{
	if (__atomic_load_n(&cq->armed_late, __ATOMIC_RELAXED))
		__atomic_store_n(&cq->armed_late, NULL, __ATOMIC_RELAXED);
}

static void enter(struct uhcav_cq *cq, struct uhcav_here here)
{
	uhcav_lifetime_enter(&cq->inside, &cq->cq, cq->lock.off, here, NULL);
}

int uhcav_watch_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	int got;

	uhcav_crash_enter("ibv_poll_cq", ibcq);
	uhcav_memory_settle();
	enter(cq, UHCAV_HERE);
	got = uhcav_poll_cq(ibcq, n, wc);
	polled(cq);
	if (got > 0)
		uhcav_quarantine_look();
	for (int i = 0; i < got; i++)
		settle(UHCAV_HERE, cq, &wc[i], false);
	uhcav_inside_leave(&cq->inside);
	return got;
}

/* ---- extended CQs: the functions that stood in them are the same in all ---- */

static int (*real_start)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
static int (*real_next)(struct ibv_cq_ex *cq);
static void (*real_end)(struct ibv_cq_ex *cq);

static void settle_current(struct uhcav_here here, struct ibv_cq_ex *cqx)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibv_cq_ex_to_cq(cqx));
	struct ibv_wc wc = {.wr_id = cq->current->wr_id,
			    .status = (enum ibv_wc_status)cq->current->status,
			    .opcode = (enum ibv_wc_opcode)cq->current->opcode,
			    .byte_len = cq->current->byte_len,
			    .qp_num = cq->current->qpn};

	settle(here, cq, &wc, true);
}

static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibv_cq_ex_to_cq(cqx));
	int err;

	uhcav_crash_enter("ibv_start_poll", cqx);
	uhcav_memory_settle();
	enter(cq, UHCAV_HERE);
	err = real_start(cqx, attr);
	polled(cq);
	if (!err)
		settle_current(UHCAV_HERE, cqx);
	else
		uhcav_inside_leave(&cq->inside);
	return err;
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	int err = real_next(cqx);

	if (!err)
		settle_current(UHCAV_HERE, cqx);
	return err;
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	real_end(cqx);
	uhcav_inside_leave(&uhcav_cq_of(ibv_cq_ex_to_cq(cqx))->inside);
}

void uhcav_watch_cq_ex(struct ibv_cq_ex *cq)
{
	real_start = cq->start_poll;
	real_next = cq->next_poll;
	real_end = cq->end_poll;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
}
