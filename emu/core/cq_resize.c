/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_resize_cq(3): a new ring, into which the entries move that the consumer has not taken, each
 * with its index and sequence. The consumer keeps its hands off the old ring from before it asks
 * until it has the new one; what it wrote there is believed as far as it makes sense.
 */
#include "cq.h"

#include "queue_region.h"

#include <errno.h>
#include <string.h>

/* As the smallest that is created: programs lean on there being a little more than they asked. */
#define CQE_MIN 16u

static struct uhca_abi_cqe *slot_of(uint8_t *slots, uint32_t index, uint32_t entries,
				    uint32_t stride)
{
	return (struct uhca_abi_cqe *)(void *)(slots + (size_t)(index & (entries - 1)) * stride);
}

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
		return -EOPNOTSUPP;
	if (cqe == 0 || cqe > c->dev->cfg.limits.max_cqe)
		return -EINVAL;
	cq_hold_release(cq);
	cq->consumer = uhca_ring_observe(&cq->page->ring.consumer);
	/* "must be at least the number of unpolled entries" */
	if (cq->overrun || waiting(cq) > cqe || waiting(cq) > cq->entries)
		return -EINVAL;
	return 0;
}

/* The stride of a larger ring is smaller: too small for data that wait? */
static bool data_fit(const struct cq *cq, uint32_t stride)
{
	for (uint32_t n = waiting(cq); n > 0; n--) {
		const struct uhca_abi_cqe *e =
			slot_of(cq->slots, cq->producer - n, cq->entries, cq->stride);
		if ((e->flags & UHCA_ABI_WC_SCATTER) &&
		    e->scatter_length > stride - UHCA_ABI_CQE_SIZE)
			return false;
	}
	return true;
}

/* A slot's sequence is one behind the index for which it is valid: zero must not be that. */
static void invalidate(const struct cq *cq, uint8_t *slots, uint32_t entries, uint32_t stride)
{
	for (uint32_t i = 0; i < entries; i++)
		slot_of(slots, cq->producer + i, entries, stride)->sequence = cq->producer;
}

static void move_entries(const struct cq *cq, uint8_t *slots, uint32_t entries, uint32_t stride)
{
	uint32_t n = waiting(cq);
	uint32_t bytes = stride < cq->stride ? stride : cq->stride;

	if (cq->producer + entries < cq->producer)
		invalidate(cq, slots, entries, stride);
	for (; n > 0; n--) {
		uint32_t i = cq->producer - n;
		memcpy(slot_of(slots, i, entries, stride),
		       slot_of(cq->slots, i, cq->entries, cq->stride), bytes);
	}
}

static void move_page(const struct cq *cq, struct uhca_abi_cq *to)
{
	to->ring.producer = cq->producer;
	to->ring.consumer = cq->consumer;
	to->arm = uhca_ring_observe(&cq->page->arm);
	to->announced = cq->announced;
	to->notify_unread = !cq->obj.client->dev->cfg.strict_arming;
	to->comp_events = cq->comp_events;
	to->async_events = cq->async_events;
}

static int resize(struct client *c, struct cq *cq, uint32_t entries)
{
	uint32_t max_cqe = c->dev->cfg.limits.max_cqe;
	uint32_t stride = cq_choose_stride(entries, c->dev->cfg.scatter_limit);
	struct core_ring ring;
	uint8_t *slots;
	int err;

	if (!data_fit(cq, stride))
		stride = cq->stride;
	err = queue_region_create(c, UHCA_ABI_REGION_CQ,
				  QUEUE_REGION_PAGE + (uint64_t)entries * stride, &ring);
	if (err)
		return err;
	slots = (uint8_t *)ring.base + QUEUE_REGION_PAGE;
	move_entries(cq, slots, entries, stride);
	move_page(cq, ring.base);
	queue_region_destroy(c, &cq->ring);
	cq->ring = ring;
	cq->page = ring.base;
	cq->slots = slots;
	cq->entries = entries;
	cq->cqe = entries < max_cqe ? entries : max_cqe;
	cq->stride = stride;
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
