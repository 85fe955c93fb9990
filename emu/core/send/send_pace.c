/* SPDX-License-Identifier: BSD-2-Clause */
/* Paces UC and UD packets, which no acknowledgement limits. */
#include "send_pace.h"

#define BURST       131072u /* what one look at the sockets takes out of them, and more */
#define NS_PER_BYTE 2u      /* 500 MB/s: a third of what a receiver was seen to take */
#define HEADERS     64u     /* of a packet */

static bool has_window(const struct core_burst *t)
{
	enum roce_service service = roce_opcode_info(t->head.bth.opcode)->service;

	return service == ROCE_SVC_RC || service == ROCE_SVC_XRC;
}

void core_tx_left(struct device *dev, const struct core_burst *t, uint64_t now)
{
	struct send_pace *p = &dev->pace;
	uint32_t room = dev->cfg.window_bytes;

	if (has_window(t))
		return;
	if (now - p->began >= (uint64_t)NS_PER_BYTE * p->bytes) {
		p->began = now;
		p->bytes = 0;
	}
	p->bytes += t->length + HEADERS * t->count;
	if (p->bytes >= (room < BURST ? room : BURST))
		p->until = p->began + (uint64_t)NS_PER_BYTE * p->bytes;
}

bool send_pace_rests(const struct device *dev)
{
	return dev->now < dev->pace.until;
}

bool send_pace_holds(const struct qp *qp, const struct send_wr *w)
{
	const struct device *dev = qp->dev;
	const uint8_t *dst = qp->flow.dst;

	if (!send_pace_rests(dev))
		return false;
	if (qp->type == QPT_UD) {
		const struct ah *ah = table_find(&dev->ahs, w->wqe.ud.ah);

		if (!ah)
			return false; /* and fails */
		dst = ah->attr.dgid;
	}
	return !dev->ops->stays || !dev->ops->stays(dev->user, dst);
}

void send_pace_wait(struct qp *qp)
{
	if (list_empty(&qp->pace_link))
		list_append(&qp->dev->pace.waits, &qp->pace_link);
}

/* of: NULL for all. */
static void resume(struct device *dev, const struct client *of)
{
	for (struct list *l = dev->pace.waits.next, *next; l != &dev->pace.waits; l = next) {
		struct qp *qp = list_entry(l, struct qp, pace_link);

		next = l->next;
		if (of && qp->obj.client != of)
			continue;
		list_remove(&qp->pace_link);
		qp_kick(qp);
	}
}

void send_pace_resume(struct device *dev)
{
	if (!send_pace_rests(dev))
		resume(dev, NULL);
}

uint64_t send_pace_lift(struct client *c)
{
	uint64_t until = c->dev->pace.until;

	c->dev->pace.until = 0;
	resume(c->dev, c);
	return until;
}

void send_pace_set(struct device *dev, uint64_t until)
{
	dev->pace.until = until;
}

uint64_t send_pace_deadline(const struct device *dev)
{
	return list_empty(&dev->pace.waits) ? UINT64_MAX : dev->pace.until;
}
