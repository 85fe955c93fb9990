/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the receiving side does when its QP begins, changes state and ends. In the error state every
 * receive of the QP completes once, in order, with WR_FLUSH_ERR (IBTA vol. 1, 10.8.3.1).
 */
#include "receive.h"

#include "answer.h"
#include "emu/core/memory/memory.h"
#include "emu/core/queues/queues.h"
#include "receive_wr.h"
#include "wire/psn.h"

#include <string.h>

static void reset(struct qp *qp)
{
	struct responder *r = &qp->resp;
	struct replay replay = r->replay;

	receive_abandon(qp);
	memset(r, 0, sizeof *r);
	r->replay = replay;
	if (replay.size)
		replay_clear(&r->replay);
	if (qp->rq.entries)
		recv_drop(&qp->rq);
}

/* INIT to RTR: the expected PSN from the QP's attributes. */
static void changed(struct qp *qp, enum qp_state old)
{
	if (qp->state == QPS_RTR && old == QPS_INIT)
		qp->resp.epsn = qp->attr.rq_psn & ROCE_PSN_MASK;
}

static void stop(struct qp *qp)
{
	qp->resp.message = MESSAGE_NONE;
	answer_forget(qp);
}

static void flush(struct qp *qp)
{
	struct uhca_abi_cqe e;

	if (qp->state != QPS_ERR)
		return;
	/* What is taken completes; an SRQ's other requests stay for its other QPs (10.2.9.5). */
	while (qp->resp.have_wr || (!qp->srq && recv_available(&qp->rq) && budget_take(qp) &&
				    recv_fetch(&qp->rq, &qp->resp.wr) == FETCH_OK)) {
		e = (struct uhca_abi_cqe){.status = UHCA_ABI_WC_WR_FLUSH_ERR,
					  .opcode = UHCA_ABI_WC_RECV};
		receive_complete(qp, &e);
	}
}

static void destruct(struct qp *qp)
{
	receive_abandon(qp);
	replay_destruct(&qp->resp.replay);
}

const struct qp_engine receive_engine = {
	.destruct = destruct,
	.reset = reset,
	.changed = changed,
	.stop = stop,
	.flush = flush,
};
