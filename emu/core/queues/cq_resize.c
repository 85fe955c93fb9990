/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_resize_cq(3): a new ring, into which the entries move that the consumer has not taken, each
 * with its index and sequence. The consumer keeps its hands off the old ring from before it asks
 * until it has the new one; what it wrote there is believed as far as it makes sense.
 */
#include "cq.h"

#include "emu/core/memory/memory.h"

#include <errno.h>

/* As the smallest that is created: programs lean on there being a little more than they asked. */
#define CQE_MIN 16u

/*
 * Entries that wait, by our last look; more than there are slots when the consumer's index is
 * nonsense.
 */
static uint32_t waiting(const struct cq *cq)
{
	return cq->producer - cq->consumer;
}

/* What is held back moves as what waits does. */
static int prepare(const struct client *c, struct cq *cq, uint32_t cqe)
{
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_RESIZE_CQ))
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile does not support resizing CQs");
	if (cqe == 0)
		return device_refuse(c->dev, -EINVAL, "cqe is 0");
	if (device_check_limit(c->dev, "cqe", cqe, "max_cqe", c->dev->cfg.limits.max_cqe))
		return -EINVAL; /* as was said */
	make_visible(c->dev, BEFORE_CQ_RESIZE, cq);
	cq->consumer = uhca_ring_observe(&cq->page->ring.consumer);
	/* "must be at least the number of unpolled entries" */
	if (cq->overrun)
		return device_refuse(c->dev, -EINVAL, "the CQ has overrun");
	if (waiting(cq) > cqe || waiting(cq) > cq->entries)
		return device_refuse(c->dev, -EINVAL,
				     "cqe %u is too small: %u completions are not polled", cqe,
				     waiting(cq));
	return 0;
}

/* A slot's sequence is one behind the index for which it is valid: zero must not be that. */
static void invalidate(const struct cq *cq, struct uhca_abi_cqe *slots, uint32_t entries)
{
	for (uint32_t i = 0; i < entries; i++)
		slots[i].sequence = cq->producer;
}

static void move_entries(const struct cq *cq, struct uhca_abi_cqe *slots, uint32_t entries)
{
	uint32_t n = waiting(cq);

	if (cq->producer + entries < cq->producer)
		invalidate(cq, slots, entries);
	for (; n > 0; n--) {
		uint32_t i = cq->producer - n;
		slots[i & (entries - 1)] = cq->slots[i & (cq->entries - 1)];
		slots[i & (entries - 1)].flags &= (uint16_t)~UHCA_ABI_WC_COPY_ON_POLL;
	}
}

static void move_page(const struct cq *cq, struct uhca_abi_cq *to)
{
	to->ring.producer = cq->producer;
	to->ring.consumer = cq->consumer;
	to->arm = uhca_ring_observe(&cq->page->arm);
	to->event_index = cq->event_index;
	to->notify_unread = !cq->obj.client->dev->cfg.strict_arming;
	to->comp_events = cq->comp_events;
	to->async_events = cq->async_events;
}

static int resize(struct client *c, struct cq *cq, uint32_t entries)
{
	uint32_t max_cqe = c->dev->cfg.limits.max_cqe;
	struct core_ring ring;
	struct uhca_abi_cqe *slots;
	int err = queue_region_create(c, UHCA_ABI_REGION_CQ, cq_region_size(cq, entries), &ring);

	if (err)
		return err;
	slots = (void *)((uint8_t *)ring.base + QUEUE_REGION_PAGE);
	copy_on_poll_ring_end(&cq->copies_on_poll);
	move_entries(cq, slots, entries);
	move_page(cq, ring.base);
	queue_region_destroy(c, &cq->ring);
	cq_use_region(cq, &ring, entries);
	cq->cqe = entries < max_cqe ? entries : max_cqe;
	return 0;
}

int core_resize_cq(struct client *c, const struct uhca_cmd_resize_cq *in,
		   struct uhca_cmd_create_cq_reply *out, struct core_ring *ring)
{
	struct cq *cq;
	int err = client_find(c, &c->dev->cqs, in->handle, &cq);

	if (!err)
		err = prepare(c, cq, in->cqe);
	if (!err)
		err = resize(c, cq, queue_region_entries(in->cqe < CQE_MIN ? CQE_MIN : in->cqe));
	if (!err)
		cq_describe(cq, out, ring);
	return err;
}
