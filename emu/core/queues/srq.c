/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues (IBTA vol. 1, 10.2.9; ibv_create_srq(3)). How they change stands in
 * srq_resize.c.
 */
#include "srq.h"
#include "cq.h"
#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"
#include "queue_users.h"
#include "srq_reorder.h"
#include "wqe_fetch.h"

#include <errno.h>
#include <stdlib.h>

#define SRQT_BASIC 0u
#define SRQT_XRC   1u
#define SRQT_TM    2u

static int check_request(struct device *dev, const struct uhca_cmd_create_srq *in)
{
	const struct core_limits *l = &dev->cfg.limits;
	int err;

	if (!(dev->cfg.features & UHCA_ABI_HAS_SRQ))
		return device_refuse(dev, -EOPNOTSUPP, "the device's profile has no SRQs");
	if (in->srq_type == SRQT_TM)
		return device_refuse(dev, -EOPNOTSUPP,
				     "srq_type IBV_SRQT_TM: tag matching is not supported");
	if (in->srq_type == SRQT_XRC && !(dev->cfg.features & UHCA_ABI_HAS_XRC))
		return device_refuse(dev, -EOPNOTSUPP,
				     "srq_type IBV_SRQT_XRC: the device's profile has no XRC");
	if (in->srq_type > SRQT_XRC)
		return device_refuse(dev, -EINVAL, "srq_type %u is unknown", in->srq_type);
	if (in->max_wr == 0)
		return device_refuse(dev, -EINVAL, "max_wr is 0");
	err = device_check_limit(dev, "max_wr", in->max_wr, "max_srq_wr", l->max_srq_wr);
	return err ? err
		   : device_check_limit(dev, "max_sge", in->max_sge, "max_srq_sge", l->max_srq_sge);
}

/* What an XRC SRQ has beside a basic one: a domain, a CQ, and a number that packets name. */
static int join_domain(struct srq *srq, const struct uhca_cmd_create_srq *in)
{
	struct client *c = srq->obj.client;
	srq->srq_num = srq->obj.handle & 0xffffff;
	if (in->srq_type != SRQT_XRC)
		return 0;
	int err = client_find(c, &c->dev->xrcds, in->xrcd, &srq->xrcd);
	if (!err)
		err = client_find(c, &c->dev->cqs, in->cq, &srq->cq);
	if (!err)
		err = device_add(c->dev, &c->dev->srqns, srq, &srq->srq_num);
	if (err)
		return err;
	srq->xrcd->obj.refs++;
	srq->cq->obj.refs++;
	return 0;
}

static void leave_domain(struct srq *srq)
{
	struct device *dev = srq->obj.client->dev;
	if (!srq->xrcd)
		return;
	dev->queue_users->forget_srq(dev, srq);
	table_remove(&dev->srqns, srq->srq_num);
	srq->xrcd->obj.refs--;
	srq->cq->obj.refs--;
}

static int srq_create(struct client *c, struct pd *pd, const struct uhca_cmd_create_srq *in,
		      struct srq **out)
{
	struct srq *srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->obj.client = c;
	srq->pd = pd;
	srq->cookie = in->cookie;
	recv_queue_set_sizes(&srq->rq, in->max_wr, in->max_sge, c->dev->cfg.limits.max_srq_wr);
	int err = recv_queue_make_region(&srq->rq, c, &srq->ring);
	if (err)
		goto free_srq;
	err = device_add(c->dev, &c->dev->srqs, srq, &srq->obj.handle);
	if (err)
		goto free_region;
	err = join_domain(srq, in);
	if (err)
		goto remove_srq;
	if (c->dev->cfg.any_srq_order)
		err = srq_reorder_create(&srq->rq, chance_next(&c->dev->chance));
	if (err)
		goto leave_domain;
	pd->obj.refs++;
	*out = srq;
	return 0;

leave_domain:
	leave_domain(srq);
remove_srq:
	table_remove(&c->dev->srqs, srq->obj.handle);
free_region:
	queue_region_destroy(c, &srq->ring);
free_srq:
	free(srq);
	return err;
}

void srq_reply(const struct srq *srq, struct uhca_cmd_create_srq_reply *out)
{
	out->handle = srq->obj.handle;
	out->srq_num = srq->srq_num;
	recv_queue_reply(&srq->rq, &srq->ring, out);
}

int core_create_srq(struct client *c, const struct uhca_cmd_create_srq *in,
		    struct uhca_cmd_create_srq_reply *out, struct core_ring *ring)
{
	struct pd *pd;
	struct srq *srq = NULL;
	int err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = check_request(c->dev, in);
	if (!err)
		err = srq_create(c, pd, in, &srq);
	if (err)
		return err;
	srq_reply(srq, out);
	*ring = srq->ring;
	return 0;
}

int core_query_srq(struct client *c, uint32_t handle, struct uhca_cmd_query_srq_reply *out)
{
	struct srq *srq;
	int err = client_find(c, &c->dev->srqs, handle, &srq);
	if (err)
		return err;
	out->max_wr = srq->rq.max_wr;
	out->max_sge = srq->rq.max_sge;
	out->srq_limit = srq->limit;
	out->reserved = 0;
	return 0;
}

static void srq_destroy(void *object)
{
	struct srq *srq = object;
	struct client *c = srq->obj.client;
	leave_domain(srq);
	table_remove(&c->dev->srqs, srq->obj.handle);
	srq->pd->obj.refs--;
	queue_region_destroy(c, &srq->ring);
	srq_reorder_destroy(&srq->rq);
	free(srq);
}

/* The client destroys it: events that it was not told of yet are taken back. */
static void take_back_events(void *object)
{
	struct srq *srq = object;
	event_take_back(srq->obj.client, srq->cookie, &srq->async_events,
			&srq->rq.page->async_events);
}

int core_destroy_srq(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_srq, handle, take_back_events);
}

void srq_check_limit(struct srq *srq)
{
	if (srq->limit == 0 || recv_available(&srq->rq) >= srq->limit)
		return;
	srq->limit = 0;
	srq_event(srq, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED);
}

void srq_abandon(struct srq *srq)
{
	srq->abandoned++;
	uhca_ring_publish(&srq->rq.page->recv.abandoned, srq->abandoned);
}

void srq_fail(struct srq *srq)
{
	if (srq->error)
		return;
	srq->error = true;
	srq_event(srq, UHCA_ABI_EVENT_SRQ_ERR);
}

void srq_event(struct srq *srq, uint32_t type)
{
	device_trace(srq->obj.client->dev, CORE_TRACE_EVENT, 0, type, srq->obj.handle);
	event_raise(srq->obj.client, srq->cookie, type, &srq->async_events,
		    &srq->rq.page->async_events);
}

static void describe_srq(const void *object, struct facts *f)
{
	const struct srq *srq = object;
	facts_number(f, "srqn", srq->srq_num);
	facts_text(f, "type", srq->xrcd ? "XRC" : "BASIC");
	facts_text(f, "state", srq->error ? "error" : "ready");
	facts_number(f, "pd", srq->pd->obj.handle);
	facts_number(f, "max_wr", srq->rq.max_wr);
	facts_number(f, "max_sge", srq->rq.max_sge);
	facts_number(f, "limit", srq->limit);
	facts_number(f, "posted", recv_available(&srq->rq));
	facts_number(f, "users", srq->obj.refs);
}

const struct object_type object_srq = {
	.type = CORE_OBJECT_SRQ,
	.name = "srq",
	.table = offsetof(struct device, srqs),
	.destroy = srq_destroy,
	.describe = describe_srq,
};
