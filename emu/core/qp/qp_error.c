/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a QP's work (IBTA vol. 1, 10.3.1.7, 10.8.3.1): every outstanding request completes
 * once, in order, with WR_FLUSH_ERR; and what each state transition means to the engines.
 */
#include "emu/core/receive/answer.h"
#include "emu/core/receive/receive_wr.h"
#include "emu/core/send/completer.h"
#include "emu/core/send/retry.h"
#include "qp.h"

/* Requests the device has taken already, oldest first. */
static void flush_taken(struct qp *qp)
{
	struct requester *r = &qp->req;

	while (r->una != r->sq.head) {
		const struct send_wr *w = requester_wr(r, r->una++);
		send_retire(&r->sq, r->una);
		completer_push(qp, w, UHCA_ABI_WC_WR_FLUSH_ERR);
	}
	r->send = r->una;
	r->send_offset = 0;
	r->una_psn = r->high_psn = r->next_psn;
	r->rd_outstanding = 0;
}

/* Requests still in the ring. A broken ring ends the flush: nothing in it can be believed. */
static void flush_send_ring(struct qp *qp)
{
	struct requester *r = &qp->req;
	struct send_wr *w = &r->wr[0];

	while (send_fetch(&r->sq, &w->wqe, r->sge) == FETCH_OK) {
		w->length = 0;
		w->index = r->sq.head - 1;
		send_retire(&r->sq, r->sq.head);
		completer_push(qp, w, UHCA_ABI_WC_WR_FLUSH_ERR);
	}
	r->una = r->send = r->sq.head;
}

static void flush_recv(struct qp *qp)
{
	struct uhca_abi_cqe e;

	/* What is taken completes; an SRQ's other requests stay for its other QPs (10.2.9.5). */
	while (qp->resp.have_wr || (!qp->srq && recv_fetch(&qp->rq, &qp->resp.wr) == FETCH_OK)) {
		e = (struct uhca_abi_cqe){.status = UHCA_ABI_WC_WR_FLUSH_ERR,
					  .opcode = UHCA_ABI_WC_RECV};
		receive_complete(qp, &e);
	}
}

void qp_flush(struct qp *qp)
{
	if (qp->req.sq.entries) {
		flush_taken(qp);
		flush_send_ring(qp);
	}
	if (qp->state == QPS_ERR)
		flush_recv(qp);
}

/* Everything that is under way stops. */
static void stop(struct qp *qp)
{
	timer_cancel(&qp->dev->timers, &qp->req.timer);
	qp->req.blocked = BLOCKED_STATE;
	qp->resp.message = MESSAGE_NONE;
	answer_forget(qp);
}

void qp_show_held(struct qp *qp)
{
	if (qp->recv_cq) /* an XRC receiver has that of the SRQ which it used last, if it is left */
		cq_hold_release(qp->recv_cq);
}

static void enter_error(struct qp *qp)
{
	stop(qp);
	qp_show_held(qp);
	qp_flush(qp);
	/* 10.2.9.5: after this event nobody takes a receive for this QP from the SRQ any more. */
	if (qp->srq && qp->type != QPT_XRC_RECV)
		qp_event(qp, UHCA_ABI_EVENT_QP_LAST_WQE_REACHED);
}

void qp_fail(struct qp *qp, uint32_t event)
{
	if (qp->state == QPS_ERR || qp->state == QPS_RESET)
		return;
	qp_set_state(qp, QPS_ERR);
	if (event != UINT32_MAX)
		qp_event(qp, event);
	enter_error(qp);
}

static void enter_sqd(struct qp *qp)
{
	qp->req.draining = true;
	completer_check_drained(qp);
}

void qp_state_changed(struct qp *qp, enum qp_state old, uint32_t attr_mask)
{
	(void)attr_mask;
	switch (qp->state) {
	case QPS_RESET:
		qp_show_held(qp);
		list_remove(&qp->tx_link);
		list_remove(&qp->ack_link);
		requester_reset(qp);
		responder_reset(qp);
		qp->comm_established = false;
		return;
	case QPS_INIT:
		return;
	case QPS_RTR:
		if (old == QPS_INIT)
			responder_start(qp);
		return;
	case QPS_RTS:
		if (old == QPS_RTR)
			requester_start(qp);
		retry_refill(qp);
		qp->req.draining = false;
		qp_kick(qp);
		return;
	case QPS_SQD:
		if (old != QPS_SQD)
			enter_sqd(qp);
		return;
	case QPS_ERR:
		if (old != QPS_ERR)
			enter_error(qp);
		return;
	case QPS_SQE:
	case QPS_COUNT:
		return;
	}
}
