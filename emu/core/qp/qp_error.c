/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a QP's work (IBTA vol. 1, 10.3.1.7, 10.8.3.1): every outstanding request completes
 * once, in order, with WR_FLUSH_ERR; and what each state transition means to the engines.
 */
#include "engine.h"

void qp_flush(struct qp *qp)
{
	engines_flush(qp);
}

void qp_make_visible(struct qp *qp)
{
	/* An XRC receiver has the CQ of the SRQ which it used last, if it is left. */
	make_visible(qp->dev, BEFORE_QP_STOP, qp->recv_cq);
}

static void enter_error(struct qp *qp)
{
	qp_make_visible(qp);
	engines_stop(qp);
	engines_flush(qp);
	/* 10.2.9.5: after this event nobody takes a receive for this QP from the SRQ any more. */
	if (qp->srq && qp->type != QPT_XRC_RECV)
		qp_event(qp, UHCA_ABI_EVENT_QP_LAST_WQE_REACHED);
}

void qp_fail(struct qp *qp, uint32_t event)
{
	if (qp->state == QPS_ERR || qp->state == QPS_RESET)
		return;
	qp_set_state(qp, QPS_ERR);
	qp->failed = true;
	if (event != UINT32_MAX)
		qp_event(qp, event);
	enter_error(qp);
}

void qp_state_changed(struct qp *qp, enum qp_state old)
{
	switch (qp->state) {
	case QPS_RESET:
		qp_make_visible(qp);
		list_remove(&qp->tx_link);
		list_remove(&qp->ack_link);
		list_remove(&qp->budget_link);
		list_remove(&qp->pace_link);
		engines_reset(qp);
		qp->comm_established = qp->failed = false;
		return;
	case QPS_INIT:
	case QPS_RTR:
	case QPS_RTS:
	case QPS_SQD:
	case QPS_SQE:
		engines_changed(qp, old);
		return;
	case QPS_ERR:
		if (old != QPS_ERR)
			enter_error(qp);
		return;
	case QPS_COUNT:
		return;
	}
}
