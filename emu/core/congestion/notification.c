/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notification point: a packet that was marked on its way brings a CNP to the QP that sent it,
 * at most one in each interval (A17.9.3). Where the control counts marks of ACKs (DCTCP), its ACKs
 * tell of them in place of CNPs, by BECN.
 */
#include "congestion.h"

#include <string.h>

static bool echoes(const struct qp *qp)
{
	return qp->dev->cfg.congestion.control.ops->echo;
}

void congestion_marked(struct qp *qp, const struct core_burst *t)
{
	struct congestion *c = qp->congestion;
	const uint64_t now = device_network_now(qp->dev);

	qp->dev->counters.ecn_marked += t->count;
	if (!c)
		return;
	if (echoes(qp)) {
		c->echo_due = true;
	} else if (now >= c->next_cnp) {
		c->next_cnp = now + qp->dev->cfg.congestion.cnp_interval;
		c->cnp_due = true;
		qp_kick(qp);
	}
}

bool congestion_transmit(struct qp *qp, struct core_burst *out)
{
	static const uint8_t reserved[ROCE_CNP_RESERVED];
	struct congestion *c = qp->congestion;

	if (!c->cnp_due || !qp_receives(qp))
		return false;
	c->cnp_due = false;
	qp->dev->counters.cnps_sent++;
	roce_packet_cnp(&out->head, qp->attr.dest_qp_num, qp_pkey(qp));
	out->flow = qp->flow;
	out->flow.tclass = (uint8_t)(qp->dev->cfg.congestion.cnp_dscp << 2);
	out->last_opcode = out->head.bth.opcode;
	out->last_ackreq = out->last_solicited = out->from_network = false;
	out->count = out->n_iov = 1;
	out->segment = out->length = ROCE_CNP_RESERVED;
	out->iov[0] = (struct iovec){(void *)(uintptr_t)reserved, ROCE_CNP_RESERVED};
	return true;
}

void congestion_fill_ack(struct qp *qp, struct core_burst *ack)
{
	struct congestion *c = qp->congestion;

	roce_flow_set_ecn(&ack->flow, ROCE_NOT_ECT);
	ack->head.bth.becn = c->echo_due;
	c->echo_due = false;
}
