/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends acknowledgements whose QP was destroyed before they left. */
#include "orphan_ack.h"

#include "emu/core/receive/receive.h"

static void keep(struct qp *qp)
{
	struct orphan_ack *f = qp->dev->orphan_ack;
	struct core_burst t;
	uint32_t i = (f->head + f->used) % ORPHAN_ACK_MAX;

	if (f->used == ORPHAN_ACK_MAX || !answer_last(qp, &t))
		return;
	f->owed[i].qpn = qp->qpn;
	f->owed[i].flow = t.flow;
	f->owed[i].bth = t.head.bth;
	f->owed[i].aeth = t.head.aeth;
	f->used++;
}

bool orphan_ack_next(struct orphan_ack *f, struct core_burst *out)
{
	uint32_t i = f->head;

	if (!f->used)
		return false;
	answer_begin(f->owed[i].bth.dest_qp, f->owed[i].bth.psn, &f->owed[i].flow, out);
	out->head.bth = f->owed[i].bth;
	out->last_opcode = out->head.bth.opcode;
	out->head.aeth = f->owed[i].aeth;
	out->model.qpn = f->owed[i].qpn;
	f->head = (i + 1) % ORPHAN_ACK_MAX;
	f->used--;
	return true;
}

const struct qp_engine orphan_ack_engine = {.leave = keep};
