/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds the local work (local operations, flushes) of one tick; the rest waits for the next. */
#include "budget.h"

bool budget_take(struct qp *qp)
{
	struct device *dev = qp->dev;

	if (dev->budget_at != dev->now) {
		dev->budget_at = dev->now;
		dev->budget_used = 0;
	}
	if (dev->budget_used < BUDGET_MAX) {
		dev->budget_used++;
		return true;
	}
	if (list_empty(&qp->budget_link))
		list_append(&dev->waits_for_budget, &qp->budget_link);
	return false;
}

/* In the order in which they stopped; who stops again is behind the others. */
void budget_resume(struct device *dev)
{
	struct qp *last;

	if (list_empty(&dev->waits_for_budget) || dev->now == dev->budget_at)
		return;
	last = list_entry(dev->waits_for_budget.prev, struct qp, budget_link);
	for (struct qp *qp = NULL; qp != last;) {
		qp = list_entry(dev->waits_for_budget.next, struct qp, budget_link);
		list_remove(&qp->budget_link);
		if (qp->state == QPS_ERR || qp->state == QPS_SQE)
			qp_flush(qp);
		else
			qp_kick(qp);
	}
}

uint64_t budget_deadline(const struct device *dev)
{
	return list_empty(&dev->waits_for_budget) ? UINT64_MAX : dev->budget_at + 1;
}
