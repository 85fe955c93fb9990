/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams to multicast groups: a copy for each member. */
#include "emu/core/qp/mcast.h"
#include "emu/core/receive/responder.h"
#include "receive.h"

static bool blocked(const struct qp *qp, const struct core_train *t)
{
	return qp->create_flags & QP_CREATE_BLOCK_SELF_MCAST_LB && t->head.deth.src_qp == qp->qpn &&
	       device_find_gid(qp->dev, t->flow.src) >= 0;
}

void mcast_receive(struct device *dev, const struct core_train *t)
{
	const struct mcast_group *g = mcast_find_group(dev, t->flow.dst);
	if (!g || roce_opcode_info(t->head.bth.opcode)->service != ROCE_SVC_UD)
		return;
	for (struct list *l = g->members.next, *next; l != &g->members; l = next) {
		struct qp *qp = list_entry(l, struct mcast_member, link)->qp;
		next = l->next;
		if (!blocked(qp, t) && receive_admit(qp, t))
			responder_receive_ud(qp, t);
	}
}
