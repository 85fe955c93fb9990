/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes requests that send no packet: BIND_MW, LOCAL_INV and registrations. */
#include "local_op.h"

#include "completer.h"
#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "fast_reg.h"

enum requester_blocked local_op_blocked(const struct qp *qp, const struct send_wr *w)
{
	const struct requester *r = &qp->req;

	if (!(w->wqe.flags & UHCA_ABI_SEND_FENCE))
		return BLOCKED_NOT;
	if (w->wqe.opcode == UHCA_ABI_WR_LOCAL_INV)
		return r->una != r->send ? BLOCKED_FENCE : BLOCKED_NOT;
	return r->rd_outstanding ? BLOCKED_FENCE : BLOCKED_NOT;
}

static bool run(struct qp *qp, const struct send_wr *w)
{
	if (fast_reg_is(w->wqe.opcode))
		return fast_reg_run(qp, w);
	return w->wqe.opcode == UHCA_ABI_WR_BIND_MW ? mw_bind(qp_key_user(qp), &w->wqe)
						    : invalidate_key(qp_key_user(qp), w->wqe.imm);
}

void local_op_run(struct qp *qp, struct send_wr *w)
{
	if (!w->executed)
		w->executed = run(qp, w);
	if (w->executed)
		completer_executed(qp);
	else
		w->status = UHCA_ABI_WC_MW_BIND_ERR; /* "memory management operation error" */
}
