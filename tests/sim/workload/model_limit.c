/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See model.h: limits of shared receive queues (IBTA vol. 1, 10.2.9). One event for each arming,
 * when a receive is taken and fewer than the limit are left. Receives are posted and limits armed
 * by the workload alone, and each time this is looked at before: so the least number there was
 * since is the number there is, if any was taken at all.
 */
#include "model.h"

static uint32_t taken(const struct model_recvs *r)
{
	return r->srq->recv.producer - vsrq_recv_used(r->srq);
}

void model_look_at_limit(struct model_recvs *r)
{
	uint32_t now, left;
	unsigned events;

	if (!r->srq)
		return;
	now = taken(r);
	left = vsrq_recv_used(r->srq);
	if (r->limit && now != r->looked && left < r->limit) {
		r->limit_events++;
		r->limit = 0;
	}
	r->looked = now;
	events = vevents_count(&r->srq->c->async, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED, r->srq);
	if (events != r->limit_events)
		world_fail(r->m->w, "SRQ 0x%x: %u events of its limit, expected %u (%u left)",
			   r->srq->srq_num, events, r->limit_events, left);
}

void model_arm_limit(struct model_recvs *r, uint32_t limit)
{
	int rc;

	model_look_at_limit(r);
	rc = vsrq_arm(r->srq, limit);
	if (rc)
		world_fail(r->m->w, "SRQ 0x%x cannot be armed: %d", r->srq->srq_num, rc);
	r->limit = limit;
}
