/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: one record to the client that owns the object. */
#include "async_event.h"
#include "event.h"
#include "qp.h"

static void raise_event(struct client *c, uint64_t cookie, uint32_t type)
{
	struct uhca_abi_async_event event = {.element = cookie, .type = type};
	c->dev->ops->async_event(c->cookie, &event);
}

void qp_event(struct qp *qp, uint32_t type)
{
	raise_event(qp->obj.client, qp->cookie, type);
}

void cq_event(struct cq *cq, uint32_t type)
{
	raise_event(cq->obj.client, cq->cookie, type);
}

void srq_event(struct srq *srq, uint32_t type)
{
	raise_event(srq->obj.client, srq->cookie, type);
}
