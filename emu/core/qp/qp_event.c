/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events of queue pairs; of a shared one, each client gets its own. */
#include "emu/core/base/base.h"
#include "qp.h"
#include "qp_share.h"

static void share_event(struct qp_share *s, uint32_t type)
{
	event_raise(s->obj.client, s->cookie, type, &s->async_events, &s->page->async_events);
}

void qp_share_take_back_events(struct qp_share *s)
{
	event_take_back(s->obj.client, s->cookie, &s->async_events, &s->page->async_events);
}

void qp_event(struct qp *qp, uint32_t type)
{
	device_trace(qp->dev, CORE_TRACE_EVENT, qp->qpn, type, qp->qpn);
	for (struct list *l = qp->shares.next; l != &qp->shares; l = l->next)
		share_event(list_entry(l, struct qp_share, link), type);
	if (qp->type != QPT_XRC_RECV)
		event_raise(qp->obj.client, qp->cookie, type, &qp->async_events,
			    &qp->page->async_events);
}

void qp_take_back_events(struct qp *qp)
{
	event_take_back(qp->obj.client, qp->cookie, &qp->async_events, &qp->page->async_events);
}
