/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events: one record to the client that owns the object. How many there were stands
 * in the object's region, so that a destroy can wait for those the client has read and not yet
 * acknowledged (ibv_destroy_qp(3)).
 */
#include "async_event.h"
#include "emu/abi/event.h"
#include "emu/core/qp/qp.h"
#include "emu/core/qp/qp_share.h"

void event_count(uint32_t *own, uint32_t *shared, int32_t by)
{
	*own += (uint32_t)by;
	uhca_ring_publish(shared, *own);
}

static void raise_event(struct client *c, uint64_t cookie, uint32_t type, uint32_t *own,
			uint32_t *shared)
{
	struct uhca_abi_async_event event = {.element = cookie, .type = type};
	if (c->dev->ops->async_event(c->cookie, &event))
		event_count(own, shared, 1);
}

static void take_back(struct client *c, uint64_t cookie, uint32_t *own, uint32_t *shared)
{
	event_count(own, shared, -(int32_t)c->dev->ops->async_purge(c->cookie, cookie));
}

static void share_event(struct qp_share *s, uint32_t type)
{
	raise_event(s->obj.client, s->cookie, type, &s->async_events, &s->page->async_events);
}

void qp_share_take_back_events(struct qp_share *s)
{
	take_back(s->obj.client, s->cookie, &s->async_events, &s->page->async_events);
}

void qp_event(struct qp *qp, uint32_t type)
{
	device_trace(qp->dev, CORE_TRACE_EVENT, qp->qpn, type, qp->qpn);
	for (struct list *l = qp->shares.next; l != &qp->shares; l = l->next)
		share_event(list_entry(l, struct qp_share, link), type);
	if (qp->type != QPT_XRC_RECV)
		raise_event(qp->obj.client, qp->cookie, type, &qp->async_events,
			    &qp->page->async_events);
}

void cq_event(struct cq *cq, uint32_t type)
{
	device_trace(cq->obj.client->dev, CORE_TRACE_EVENT, 0, type, cq->obj.handle);
	raise_event(cq->obj.client, cq->cookie, type, &cq->async_events, &cq->page->async_events);
}

void srq_event(struct srq *srq, uint32_t type)
{
	device_trace(srq->obj.client->dev, CORE_TRACE_EVENT, 0, type, srq->obj.handle);
	raise_event(srq->obj.client, srq->cookie, type, &srq->async_events,
		    &srq->rq.page->async_events);
}

void qp_take_back_events(struct qp *qp)
{
	take_back(qp->obj.client, qp->cookie, &qp->async_events, &qp->page->async_events);
}

void cq_take_back_events(struct cq *cq)
{
	struct client *c = cq->obj.client;
	take_back(c, cq->cookie, &cq->async_events, &cq->page->async_events);
	if (cq->channel)
		event_count(&cq->comp_events, &cq->page->comp_events,
			    -(int32_t)c->dev->ops->comp_purge(c->cookie, cq->channel, cq->cookie));
}

void srq_take_back_events(struct srq *srq)
{
	take_back(srq->obj.client, srq->cookie, &srq->async_events, &srq->rq.page->async_events);
}

void wq_event(struct wq *wq, uint32_t type)
{
	device_trace(wq->obj.client->dev, CORE_TRACE_EVENT, 0, type, wq->obj.handle);
	raise_event(wq->obj.client, wq->cookie, type, &wq->async_events,
		    &wq->rq.page->async_events);
}

void wq_take_back_events(struct wq *wq)
{
	take_back(wq->obj.client, wq->cookie, &wq->async_events, &wq->rq.page->async_events);
}
