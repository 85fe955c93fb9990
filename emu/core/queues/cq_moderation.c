/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion events, and their moderation (ibv_modify_cq(3)): an armed CQ raises its event when
 * moderate_count completions have asked for one, or moderate_period microseconds after the first
 * that did, whichever comes first. Without a period there is no moderation: a count alone could
 * hold an event back for ever. The CQ stays armed while its event is held back.
 *
 * Unless the device is strict, arming asks for what came before, too, if nobody took it and no
 * event announced it. Adapters do so, whose arming carries the consumer index; programs lean on it
 * that poll, arm and wait, and do not poll again.
 */
#include "cq.h"

#include "emu/core/base/base.h"

#include <errno.h>

#define NSEC_PER_USEC 1000ull

static void raise_event(struct cq *cq)
{
	struct client *c = cq->obj.client;

	timer_cancel(&c->dev->cq_timers, &cq->event_timer);
	cq->withheld = 0;
	if (!__atomic_exchange_n(&cq->page->arm, 0, __ATOMIC_SEQ_CST) || !cq->channel)
		return;
	/* Before the event: who acts on it must not take what it stands for as not announced. */
	cq->event_index = cq->producer;
	uhca_ring_publish(&cq->page->event_index, cq->event_index);
	if (c->dev->ops->comp_event(c->cookie, cq->channel, cq->cookie))
		event_count(&cq->comp_events, &cq->page->comp_events, 1);
}

static void period_over(struct timer *t, uint64_t now)
{
	(void)now;
	raise_event(list_entry(t, struct cq, event_timer));
}

void cq_notify(struct cq *cq)
{
	struct device *dev = cq->obj.client->dev;

	cq->withheld++;
	if (!cq->moderate_period || (cq->moderate_count && cq->withheld >= cq->moderate_count)) {
		raise_event(cq);
	} else if (!timer_is_set(&cq->event_timer)) {
		cq->event_timer.fire = period_over;
		timer_set(&dev->cq_timers, &cq->event_timer,
			  dev->now + cq->moderate_period * NSEC_PER_USEC);
	}
}

/*
 * Are there entries that the client has not taken and that no event has announced? Its index is
 * believed: it can bring itself an event too many, nothing else.
 */
static bool has_news(const struct cq *cq)
{
	return uhca_ring_observe(&cq->page->ring.consumer) != cq->producer &&
	       cq->event_index != cq->producer;
}

/*
 * The client armed the CQ and saw, after that, an entry that would have raised the event had it
 * come later. One that came later has perhaps raised it meanwhile: then the CQ is not armed.
 */
int core_notify_cq(struct client *c, uint32_t handle)
{
	struct cq *cq;
	int err = client_find(c, &c->dev->cqs, handle, &cq);

	if (err)
		return err;
	if (c->dev->cfg.strict_arming)
		return device_refuse(c->dev, -EOPNOTSUPP, "CQs are armed strictly");
	if (uhca_ring_observe(&cq->page->arm) && has_news(cq))
		cq_notify(cq);
	return 0;
}

int core_modify_cq(struct client *c, const struct uhca_cmd_modify_cq *in)
{
	struct cq *cq;
	int err = client_find(c, &c->dev->cqs, in->handle, &cq);

	if (err)
		return err;
	/* What is held back under the old rules is not held back any longer. */
	if (timer_is_set(&cq->event_timer))
		raise_event(cq);
	cq->moderate_count = in->cq_count;
	cq->moderate_period = in->cq_period;
	return 0;
}
