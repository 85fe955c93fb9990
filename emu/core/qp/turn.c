/* SPDX-License-Identifier: BSD-2-Clause */
/* See turn.h. */
#include "turn.h"

bool turn_take(struct qp *qp)
{
	struct device *dev = qp->dev;

	if (dev->turn_at != dev->now) {
		dev->turn_at = dev->now;
		dev->turn_used = 0;
	}
	if (dev->turn_used < TURN_MAX) {
		dev->turn_used++;
		return true;
	}
	if (list_empty(&qp->turn_link))
		list_append(&dev->waits_for_turn, &qp->turn_link);
	return false;
}

/* In the order in which they stopped; who stops again is behind the others. */
void turn_resume(struct device *dev)
{
	struct qp *last;

	if (list_empty(&dev->waits_for_turn) || dev->now == dev->turn_at)
		return;
	last = list_entry(dev->waits_for_turn.prev, struct qp, turn_link);
	for (struct qp *qp = NULL; qp != last;) {
		qp = list_entry(dev->waits_for_turn.next, struct qp, turn_link);
		list_remove(&qp->turn_link);
		if (qp->state == QPS_ERR || qp->state == QPS_SQE)
			qp_flush(qp);
		else
			qp_kick(qp);
	}
}

uint64_t turn_deadline(const struct device *dev)
{
	return list_empty(&dev->waits_for_turn) ? UINT64_MAX : dev->turn_at + 1;
}
