/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_req_notify_cq: arms a CQ for the next completion. */
#include "arm_cq.h"

#include "poll_cq.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>

static int ask(struct uhcav_cq *cq)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_REQ_NOTIFY_CQ, .cq = cq->cq.handle};

	return uhcav_life(cq->ctx) == UHCAV_ALIVE ? uhcav_post_fault(cq->ctx, &ask).err : 0;
}

static int refused(struct uhcav_cq *cq, int err)
{
	const struct uhcav_post post = {.verb = "req_notify_cq"};

	return uhcav_failed(uhcav_post_refused(cq->ctx, &post, err));
}

/*
 * The first entry before producer that is neither taken, nor just being read, nor announced by an
 * event; producer when there is none. What was announced long ago lies outside of what waits.
 */
static uint32_t first_unread(const struct uhcav_cq *cq, uint32_t producer)
{
	uint32_t first = cq->consumer + (cq->current && !cq->flushing);
	uint32_t event_index = uhca_ring_observe(&cq->page->event_index);

	/* We may have taken an entry by its sequence that the producer index does not have yet. */
	if ((int32_t)(producer - first) <= 0)
		return producer;
	if (producer - first > cq->mask + 1) /* overwritten */
		first = producer - (cq->mask + 1);
	return event_index - first <= producer - first ? event_index : first;
}

/*
 * After the CQ was armed so: has it an entry that would have raised the event, had it come later?
 * Under the lock. The device publishes, then looks whether we armed; we look in the other order.
 */
static bool has_news(struct uhcav_cq *cq, uint32_t armed)
{
	uint32_t producer = uhca_ring_observe(&cq->page->ring.producer);

	for (uint32_t i = first_unread(cq, producer); i != producer; i++) {
		const struct uhca_abi_cqe *e = uhcav_cq_slot(cq, i);
		if (!uhcav_cqe_valid(e, i) || e->flags & UHCA_ABI_WC_SKIP)
			continue;
		if (armed & UHCA_ABI_ARM_NEXT || e->status != UHCA_ABI_WC_SUCCESS ||
		    e->flags & UHCA_ABI_WC_SOLICITED)
			return true;
	}
	return false;
}

/* Arms, and says whether the device must be told that there is something already. */
static bool arm(struct uhcav_cq *cq, uint32_t how)
{
	bool tell;

	uhcav_cq_lock(cq); /* for the page's sake */
	how |= __atomic_fetch_or(&cq->page->arm, how, __ATOMIC_SEQ_CST);
	uhcav_cq_handled(cq, cq->payloads);
	/* What the caller polls from now on was completed before the arming or raises an event. */
	uhca_ring_fence();
	tell = cq->channel && uhca_ring_observe(&cq->page->notify_unread) && has_news(cq, how);
	uhcav_unlock(&cq->lock);
	return tell;
}

/*
 * Tells the device that there is something already. Another thread may be inside ibv_destroy_cq,
 * waiting for an event to be acknowledged: until it returns the program may name the CQ, which has
 * no more events, and the device does not know it any more (ENOENT).
 */
static int notify(struct uhcav_cq *cq)
{
	int err = uhcav_context_call_handle(cq->ctx, UHCA_CMD_NOTIFY_CQ, cq->cq.handle);

	return err == -ENOENT ? 0 : err;
}

int uhcav_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	int err = 0;

	if (uhcav_life(cq->ctx) == UHCAV_FORKED)
		return uhcav_failed(EIO);
	if (uhcav_post_watched(cq->ctx)) {
		err = ask(cq);
		if (err)
			return refused(cq, err);
	}
	if (arm(cq, solicited_only ? UHCA_ABI_ARM_SOLICITED : UHCA_ABI_ARM_NEXT))
		err = notify(cq);
	if (uhcav_life(cq->ctx) != UHCAV_FATAL)
		return uhcav_result(err);
	/* Nobody else is there to say that there are flushed completions. */
	if (uhcav_cq_pending(cq))
		uhcav_cq_fire(cq);
	return 0;
}
