/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of packets that were not executed, for the counters and for who listens (trace.h).
 * Nothing of this is called for packets that are.
 */
#include "base.h"

static void trace_refusal(struct device *dev, const struct core_trace *t)
{
	if (dev->hooks & 1u << t->point)
		dev->ops->trace(dev->user, t);
	device_forget_cause(dev);
}

static void drop(struct device *dev, uint32_t qpn, uint32_t psn, uint32_t count, enum core_drop why)
{
	dev->counters.drops[why] += count;
	trace_refusal(dev, &(struct core_trace){.point = CORE_TRACE_RX_DROP,
						.qpn = qpn,
						.a = psn,
						.b = why,
						.c = count,
						.cause = device_cause(dev)});
}

void device_drop(struct device *dev, uint32_t qpn, const struct core_burst *t, enum core_drop why)
{
	drop(dev, qpn, t->head.bth.psn, t->count, why);
}

void device_drop_one(struct device *dev, uint32_t qpn, uint32_t psn, enum core_drop why)
{
	drop(dev, qpn, psn, 1, why);
}

void device_judged(struct device *dev, uint32_t qpn, const struct core_burst *t,
		   enum core_judgement judgement)
{
	trace_refusal(dev, &(struct core_trace){.point = CORE_TRACE_JUDGED,
						.qpn = qpn,
						.a = t->head.bth.psn,
						.b = judgement,
						.c = t->count,
						.cause = device_cause(dev)});
}
