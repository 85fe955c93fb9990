/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work requests of a send queue that send nothing: BIND_MW, LOCAL_INV and registrations
 * (fast_reg.h). They take no PSN. The device executes them when the requester's cursor reaches
 * them, that is in the order of the queue and before anything behind them is sent; they complete in
 * order with their neighbours (IBTA vol. 1, 10.8.3).
 * With config.local_inv_early LOCAL_INV may have been done before (early_local_inv.h).
 */
#ifndef CORE_LOCAL_OP_H
#define CORE_LOCAL_OP_H

#include "fast_reg.h"
#include "requester.h"

static inline bool local_op_is(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_BIND_MW || w->wqe.opcode == UHCA_ABI_WR_LOCAL_INV ||
	       fast_reg_is(w->wqe.opcode);
}

/*
 * Why the one at the cursor must wait. A fenced bind or registration waits for READs and atomics.
 * LOCAL_INV is loosely ordered: it may be done while requests before it are under way, unless it is
 * fenced; then all of them must be complete.
 */
enum requester_blocked local_op_blocked(const struct qp *qp, const struct send_wr *w);

/*
 * Executes the one at the cursor, unless that was done before the queue went back, and moves the
 * cursor; or gives it the status with which it fails.
 */
void local_op_run(struct qp *qp, struct send_wr *w);

#endif
