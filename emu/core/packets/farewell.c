/* SPDX-License-Identifier: BSD-2-Clause */
#include "farewell.h"

#include "emu/core/receive/receive.h"

static void keep(struct qp *qp)
{
	struct farewell *f = qp->dev->farewell;
	struct core_train t;
	uint32_t i = (f->head + f->used) % FAREWELL_MAX;

	if (f->used == FAREWELL_MAX || !answer_last(qp, &t))
		return;
	f->owed[i].qpn = qp->qpn;
	f->owed[i].flow = t.flow;
	f->owed[i].to_qpn = t.head.bth.dest_qp;
	f->owed[i].psn = t.head.bth.psn;
	f->owed[i].opcode = t.head.bth.opcode;
	f->owed[i].aeth = t.head.aeth;
	f->used++;
}

bool farewell_next(struct farewell *f, struct core_train *out)
{
	uint32_t i = f->head;

	if (!f->used)
		return false;
	answer_begin(f->owed[i].to_qpn, f->owed[i].psn, &f->owed[i].flow, out);
	out->head.bth.opcode = f->owed[i].opcode;
	out->last_opcode = out->head.bth.opcode;
	out->head.aeth = f->owed[i].aeth;
	out->story.qpn = f->owed[i].qpn;
	f->head = (i + 1) % FAREWELL_MAX;
	f->used--;
	return true;
}

const struct qp_engine farewell_engine = {.leave = keep};
