/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sending side does when its QP begins, changes state and ends. In the error state every
 * outstanding request completes once, in order, with WR_FLUSH_ERR (IBTA vol. 1, 10.8.3.1).
 */
#include "send.h"

#include "completer.h"
#include "early_local_inv.h"
#include "retry.h"
#include "send_window.h"
#include "wire/psn.h"

#include <errno.h>
#include <stdlib.h>

static int construct(struct qp *qp)
{
	struct requester *req = &qp->req;
	bool early = qp->dev->cfg.local_inv_early;
	uint32_t n = req->sq.entries, sges = req->sq.max_sge ? req->sq.max_sge : 1;

	req->wr = calloc(n ? n : 1, sizeof *req->wr);
	req->sge = calloc((size_t)(n ? n : 1) * sges, sizeof *req->sge);
	if (req->wr && req->sge && (!early || early_local_inv_construct(&req->early, n) == 0))
		return 0;
	return -ENOMEM;
}

static void destruct(struct qp *qp)
{
	struct requester *req = &qp->req;

	free(req->wr);
	free(req->sge);
	early_local_inv_destruct(&req->early);
}

static void reset(struct qp *qp)
{
	struct requester *r = &qp->req;

	timer_cancel(&qp->dev->timers, &r->timer);
	if (r->sq.page)
		send_drop(&r->sq);
	r->una = r->send = r->early.end = r->sq.head;
	r->send_offset = 0;
	r->rd_outstanding = 0;
	r->start = r->window.acked = 0;
	r->ssn = 0;
	r->has_credits = r->gap_seen = r->draining = false;
	r->blocked = BLOCKED_STATE;
	r->cause.kind = UHCA_ABI_CAUSE_NONE;
	r->una_psn = r->high_psn = r->next_psn;
}

static void start(struct qp *qp)
{
	struct requester *r = &qp->req;

	r->next_psn = r->una_psn = r->high_psn = qp->attr.sq_psn & ROCE_PSN_MASK;
	r->blocked = BLOCKED_NOT;
	r->timer.fire = retry_timer_fired;
	send_window_begin(&r->window, &qp->dev->cfg);
	retry_refill(qp);
}

static void stop(struct qp *qp)
{
	timer_cancel(&qp->dev->timers, &qp->req.timer);
	qp->req.blocked = BLOCKED_STATE;
}

/* Requests the device has taken already, oldest first. False: the rest has to wait. */
static bool flush_taken(struct qp *qp)
{
	struct requester *r = &qp->req;

	while (r->una != r->sq.head) {
		if (!budget_take(qp))
			return false;
		const struct send_wr *w = requester_wr(r, r->una++);
		send_retire(&r->sq, r->una);
		completer_push(qp, w, UHCA_ABI_WC_WR_FLUSH_ERR);
	}
	r->send = r->una;
	r->send_offset = 0;
	r->una_psn = r->high_psn = r->next_psn;
	r->rd_outstanding = 0;
	return true;
}

/* Requests still in the ring. A broken ring ends the flush: nothing in it can be believed. */
static void flush_send_ring(struct qp *qp)
{
	struct requester *r = &qp->req;
	struct send_wr *w = &r->wr[0];

	while (send_pending(&r->sq) && budget_take(qp) &&
	       send_fetch(&r->sq, &w->wqe, r->sge) == FETCH_OK) {
		w->length = 0;
		w->index = r->sq.head - 1;
		send_retire(&r->sq, r->sq.head);
		completer_push(qp, w, UHCA_ABI_WC_WR_FLUSH_ERR);
	}
	r->una = r->send = r->sq.head;
}

static void flush(struct qp *qp)
{
	if (qp->req.sq.entries && flush_taken(qp))
		flush_send_ring(qp);
}

/* What was to be flushed in SQE must not be sent in RTS: it waits no longer. */
static void flush_rest(struct qp *qp)
{
	uint32_t passes = qp->req.sq.entries / BUDGET_MAX + 1;

	for (; passes > 0 && !list_empty(&qp->budget_link); passes--) {
		list_remove(&qp->budget_link);
		qp->dev->budget_used = 0;
		flush(qp);
	}
}

/* Into RTS, SQD: what may be sent, and what is to end. */
static void changed(struct qp *qp, enum qp_state old)
{
	if (qp->state == QPS_RTS) {
		if (old == QPS_RTR)
			start(qp);
		else if (old == QPS_SQE)
			flush_rest(qp);
		retry_refill(qp);
		qp->req.draining = false;
		qp_kick(qp);
	} else if (qp->state == QPS_SQD && old != QPS_SQD) {
		qp->req.draining = true;
		completer_check_drained(qp);
	}
}

const struct qp_engine send_engine = {
	.construct = construct,
	.destruct = destruct,
	.reset = reset,
	.changed = changed,
	.stop = stop,
	.flush = flush,
};
