/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modify SRQ (IBTA vol. 1, 11.2.3.3; ibv_modify_srq(3)): its limit, and its size. What is posted
 * moves to a new ring. Nothing changes when anything is wrong: fewer than are posted, or than its
 * limit.
 */
#include "emu/core/base/base.h"
#include "srq.h"
#include "wqe_fetch.h"

#include <errno.h>
#include <string.h>

/* enum ibv_srq_attr_mask */
#define SRQ_ATTR_MAX_WR 1u
#define SRQ_ATTR_LIMIT  2u

/* The limit that the SRQ is to have, for so many requests. */
static int check_limit(struct device *dev, const struct srq *srq,
		       const struct uhca_cmd_modify_srq *in, uint32_t max_wr)
{
	if (in->attr_mask & ~(SRQ_ATTR_MAX_WR | SRQ_ATTR_LIMIT))
		return device_refuse(dev, -EINVAL, "srq_attr_mask 0x%x has unknown bits",
				     in->attr_mask);
	if (in->attr_mask & SRQ_ATTR_LIMIT && in->srq_limit > max_wr)
		return device_refuse(dev, -EINVAL, "srq_limit %u exceeds the SRQ's max_wr, %u",
				     in->srq_limit, max_wr);
	if (!(in->attr_mask & SRQ_ATTR_LIMIT) && srq->limit > max_wr)
		return device_refuse(dev, -EINVAL, "max_wr %u is below the SRQ's srq_limit, %u",
				     max_wr, srq->limit);
	return 0;
}

static int check_size(struct device *dev, const struct srq *srq, uint32_t max_wr)
{
	const struct recv_queue *rq = &srq->rq;
	uint32_t posted = uhca_ring_observe(&rq->page->recv.producer) - rq->consumer;

	if (dev->cfg.no_srq_resize)
		return device_refuse(
			dev, -EOPNOTSUPP,
			"IBV_SRQ_MAX_WR: the device's profile does not support resizing SRQs");
	if (max_wr == 0)
		return device_refuse(dev, -EINVAL, "max_wr is 0");
	if (srq->error || posted > rq->entries)
		return device_refuse(dev, -EINVAL, "the SRQ is in error");
	if (posted > max_wr)
		return device_refuse(dev, -EINVAL, "max_wr %u is too small: %u requests are posted",
				     max_wr, posted);
	return device_check_limit(dev, "max_wr", max_wr, "max_srq_wr", dev->cfg.limits.max_srq_wr);
}

/* Nobody posts meanwhile. Requests that wait to be chosen count as not taken, as before. */
static void move(const struct srq *srq, const struct srq *to)
{
	const struct recv_queue *from = &srq->rq;
	uint32_t producer = uhca_ring_observe(&from->page->recv.producer);
	struct uhca_abi_queue *page = to->rq.page;
	uint8_t *slots = (uint8_t *)to->ring.base + QUEUE_REGION_PAGE;

	for (uint32_t i = from->consumer; i != producer; i++)
		memcpy(slots + (size_t)(i & (to->rq.entries - 1)) * to->rq.stride,
		       from->slots + (size_t)(i & (from->entries - 1)) * from->stride,
		       from->stride);
	page->recv.producer = producer;
	page->recv.consumer = from->consumer;
	page->recv.abandoned = srq->abandoned;
	page->async_events = srq->async_events;
}

static int resize(struct client *c, struct srq *srq, uint32_t max_wr)
{
	struct srq to = *srq;
	int err;

	recv_queue_set_sizes(&to.rq, max_wr, srq->rq.max_sge, c->dev->cfg.limits.max_srq_wr);
	err = recv_queue_make_region(&to.rq, c, &to.ring);
	if (err)
		return err;
	move(srq, &to);
	queue_region_destroy(c, &srq->ring);
	srq->ring = to.ring;
	srq->rq = to.rq;
	return 0;
}

int core_modify_srq(struct client *c, const struct uhca_cmd_modify_srq *in)
{
	struct srq *srq;
	int err = client_find(c, &c->dev->srqs, in->handle, &srq);

	if (!err && in->attr_mask & SRQ_ATTR_MAX_WR)
		err = device_refuse(c->dev, -EINVAL, "IBV_SRQ_MAX_WR needs the resize command");
	if (!err)
		err = check_limit(c->dev, srq, in, srq->rq.max_wr);
	if (!err && in->attr_mask & SRQ_ATTR_LIMIT)
		srq->limit = in->srq_limit;
	return err;
}

int core_resize_srq(struct client *c, const struct uhca_cmd_modify_srq *in,
		    struct uhca_cmd_create_srq_reply *out, struct core_ring *ring)
{
	struct srq *srq;
	int err = client_find(c, &c->dev->srqs, in->handle, &srq);

	if (!err)
		err = check_size(c->dev, srq, in->max_wr);
	if (!err)
		err = check_limit(c->dev, srq, in, in->max_wr);
	if (!err)
		err = resize(c, srq, in->max_wr);
	if (err)
		return err;
	if (in->attr_mask & SRQ_ATTR_LIMIT)
		srq->limit = in->srq_limit;
	srq_reply(srq, out);
	*ring = srq->ring;
	return 0;
}
