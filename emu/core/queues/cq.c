/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues (IBTA vol. 1, chapters 10 and 11): create, destroy, and the way of a completion
 * into the ring. The client's consumer index is believed only as far as it makes sense: an index
 * that is not behind ours counts as "nothing was taken".
 */
#include "cq.h"
#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"
#include "queue_users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMP_VECTORS 1u

static int check_request(struct device *dev, const struct uhca_cmd_create_cq *in)
{
	if (in->cqe == 0)
		return device_refuse(dev, -EINVAL, "cqe is 0");
	if (in->comp_vector >= COMP_VECTORS)
		return device_refuse(dev, -EINVAL,
				     "comp_vector %u is not below %u, num_comp_vectors",
				     in->comp_vector, COMP_VECTORS);
	if (in->flags & ~(uint32_t)UHCA_ABI_CQ_IGNORE_OVERRUN)
		return device_refuse(dev, -EINVAL, "flags 0x%x has bits that CQs do not support",
				     in->flags);
	return device_check_limit(dev, "cqe", in->cqe, "max_cqe", dev->cfg.limits.max_cqe);
}

static uint64_t copies_on_poll_offset(uint32_t entries)
{
	return QUEUE_REGION_PAGE + (uint64_t)entries * UHCA_ABI_CQE_SIZE;
}

/* An entry that is overwritten would leave its copy to nobody. */
static bool has_copies_on_poll(const struct cq *cq)
{
	return !cq->ignore_overrun && cq->obj.client->dev->cfg.gather_limit > 0;
}

uint64_t cq_region_size(const struct cq *cq, uint32_t entries)
{
	uint64_t copies_on_poll =
		UHCA_ABI_COPY_ON_POLL_SLOTS * sizeof(struct uhca_abi_copy_on_poll);

	return copies_on_poll_offset(entries) + (has_copies_on_poll(cq) ? copies_on_poll : 0);
}

void cq_use_region(struct cq *cq, const struct core_ring *ring, uint32_t entries)
{
	uint8_t *base = ring->base;

	cq->ring = *ring;
	cq->page = ring->base;
	cq->slots = (void *)(base + QUEUE_REGION_PAGE);
	cq->entries = entries;
	copy_on_poll_ring_construct(&cq->copies_on_poll, cq->obj.client,
				    has_copies_on_poll(cq) ? base + copies_on_poll_offset(entries)
							   : NULL);
}

static int make_region(struct cq *cq)
{
	struct core_ring ring;
	int err = queue_region_create(cq->obj.client, UHCA_ABI_REGION_CQ,
				      cq_region_size(cq, cq->entries), &ring);
	if (err)
		return err;
	cq_use_region(cq, &ring, cq->entries);
	cq->page->notify_unread = !cq->obj.client->dev->cfg.strict_arming;
	return 0;
}

static int cq_create(struct client *c, const struct uhca_cmd_create_cq *in, struct cq **out)
{
	uint32_t max_cqe = c->dev->cfg.limits.max_cqe;
	struct cq *cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->obj.client = c;
	cq->cookie = in->cookie;
	cq->channel = in->channel;
	cq->ignore_overrun = in->flags & UHCA_ABI_CQ_IGNORE_OVERRUN;
	cq->entries = queue_region_entries(in->cqe);
	cq->cqe = cq->entries < max_cqe ? cq->entries : max_cqe;
	int err = device_reserve_timers(c->dev, 0, 1);
	if (!err)
		err = make_region(cq);
	if (err)
		goto free_cq;
	err = device_add(c->dev, &c->dev->cqs, cq, &cq->obj.handle);
	if (err)
		goto free_region;
	*out = cq;
	return 0;

free_region:
	queue_region_destroy(c, &cq->ring);
free_cq:
	free(cq);
	return err;
}

void cq_describe(const struct cq *cq, struct uhca_cmd_create_cq_reply *out, struct core_ring *ring)
{
	out->handle = cq->obj.handle;
	out->cqe = cq->cqe;
	out->entries = cq->entries;
	out->stride = UHCA_ABI_CQE_SIZE;
	out->entries_offset = QUEUE_REGION_PAGE;
	out->copies_on_poll_offset =
		has_copies_on_poll(cq) ? copies_on_poll_offset(cq->entries) : 0;
	out->region_size = queue_region_size(&cq->ring);
	*ring = cq->ring;
}

int core_create_cq(struct client *c, const struct uhca_cmd_create_cq *in,
		   struct uhca_cmd_create_cq_reply *out, struct core_ring *ring)
{
	struct cq *cq;
	int err = check_request(c->dev, in);
	if (!err)
		err = cq_create(c, in, &cq);
	if (err)
		return err;
	cq_describe(cq, out, ring);
	return 0;
}

static void cq_destroy(void *object)
{
	struct cq *cq = object;
	struct client *c = cq->obj.client;
	timer_cancel(&c->dev->cq_timers, &cq->event_timer);
	timer_cancel(&c->dev->cq_timers, &cq->deferred.timer);
	copy_on_poll_ring_end(&cq->copies_on_poll);
	table_remove(&c->dev->cqs, cq->obj.handle);
	queue_region_destroy(c, &cq->ring);
	free(cq);
}

int core_destroy_cq(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_cq, handle, cq_take_back_events);
}

/* Completions that are held back take entries, too. */
static uint32_t used(const struct cq *cq)
{
	return cq->producer - cq->consumer + cq->deferred.n;
}

/*
 * Is there a slot the client has taken? Its index is read only when our last look says "full". One
 * that was never reached makes the difference huge: also "full".
 */
static bool has_room(struct cq *cq)
{
	if (cq->ignore_overrun || used(cq) < cq->cqe)
		return true;
	cq->consumer = uhca_ring_observe(&cq->page->ring.consumer);
	return used(cq) < cq->cqe;
}

static struct uhca_abi_cqe *slot(const struct cq *cq)
{
	return &cq->slots[cq->producer & (cq->entries - 1)];
}

/*
 * Wakes the consumer if it asked for this completion (IBTA vol. 1, 11.4.2.2): "next" is
 * answered by any, "solicited" by a solicited one and by each that is an error.
 */
static void notify(struct cq *cq, const struct uhca_abi_cqe *e)
{
	/* "I published" before "did it arm?"; the client does it in the other order. */
	uhca_ring_fence();
	uint32_t armed = uhca_ring_own(&cq->page->arm);
	if (armed == 0)
		return;
	bool solicited = e->status != UHCA_ABI_WC_SUCCESS || (e->flags & UHCA_ABI_WC_SOLICITED);
	if (!(armed & UHCA_ABI_ARM_NEXT) && !(solicited && (armed & UHCA_ABI_ARM_SOLICITED)))
		return;
	cq_notify(cq);
}

static void publish(struct cq *cq, const struct uhca_abi_cqe *e, uint64_t now)
{
	struct device *dev = cq->obj.client->dev;
	struct uhca_abi_cqe *to = slot(cq);

	make_visible(dev, uhca_cqe_is_receive(e) ? BEFORE_RECV_COMPLETION : BEFORE_SEND_COMPLETION,
		     NULL);
	if (cq->ignore_overrun) { /* who reads it just now shall see that it changed */
		__atomic_store_n(&to->sequence, 0, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	memcpy(to, e, offsetof(struct uhca_abi_cqe, sequence));
	to->timestamp = now;
	cq->deferred.payloads += (uint32_t)uhca_cqe_has_payload(e);
	cq->producer++;
	uhca_ring_publish(&to->sequence, cq->producer);
	uhca_ring_publish(&cq->page->ring.producer, cq->producer);
}

static void trace(const struct cq *cq, const struct uhca_abi_cqe *e)
{
	const struct device *dev = cq->obj.client->dev;
	const struct core_trace t = {
		.point = CORE_TRACE_CQE,
		.qpn = e->qpn,
		.a = e->status,
		.b = e->opcode,
		.c = e->vendor_err,
		.cqn = cq->obj.handle,
		.length = e->byte_len,
		.wr_id = e->wr_id,
		.cause = e->status && e->status != UHCA_ABI_WC_WR_FLUSH_ERR ? device_cause(dev)
									    : NULL,
	};

	dev->ops->trace(dev->user, &t);
}

static void account(const struct cq *cq, const struct uhca_abi_cqe *e)
{
	struct device *dev = cq->obj.client->dev;

	dev->counters.completions++;
	if (e->status != UHCA_ABI_WC_SUCCESS) {
		dev->counters.errors++;
		dev->queue_users->count_error(dev, e->qpn);
		if (dev->hooks & (1u << CORE_TRACE_CQE | CORE_HOOK_ERRORS))
			trace(cq, e);
	} else if (dev->hooks & 1u << CORE_TRACE_CQE) {
		trace(cq, e);
	}
}

/* True when it stays out. */
static bool kept_back(const struct cq *cq, struct uhca_abi_cqe *e)
{
	const struct device *dev = cq->obj.client->dev;

	return !dev->ops->completion(dev->user, cq->obj.handle, e);
}

void cq_overrun(struct cq *cq)
{
	make_visible(cq->obj.client->dev, BEFORE_CQ_OVERRUN, cq);
	if (!cq->overrun)
		cq_event(cq, UHCA_ABI_EVENT_CQ_ERR);
	cq->overrun = true;
}

void cq_enter(struct cq *cq, const struct uhca_abi_cqe *e)
{
	account(cq, e);
	publish(cq, e, cq->obj.client->dev->now);
	notify(cq, e);
}

bool cq_copy_on_poll(struct cq *cq, uint64_t addr, const struct iovec *iov, unsigned n,
		     struct uhca_abi_cqe *e)
{
	const struct device *dev = cq->obj.client->dev;

	/* Rules want to see what happens to memory, and may keep a completion. */
	if (cq->overrun || dev->late || dev->hooks & (CORE_HOOK_COMPLETION | CORE_HOOK_MEMORY) ||
	    !uhca_ring_observe(&cq->page->ring.takes_copies_on_poll) ||
	    !copy_on_poll_put(&cq->copies_on_poll, addr, iov, n, &e->copy_on_poll))
		return false;
	e->flags |= UHCA_ABI_WC_COPY_ON_POLL;
	return true;
}

bool cq_put(struct cq *cq, const struct uhca_abi_cqe *e)
{
	if (cq->overrun || !has_room(cq)) {
		cq_overrun(cq);
		return false;
	}
	if (!deferred_completion_take(cq, e))
		cq_enter(cq, e);
	return true;
}

static void count(struct comp_cntr *cntr, const struct uhca_abi_cqe *e)
{
	if (cntr)
		comp_cntr_count(cntr, e->status == UHCA_ABI_WC_SUCCESS, e->byte_len);
}

/* Rules change what the program sees of it, and so what is counted. */
static bool push_changed(struct cq *cq, struct uhca_abi_cqe e, struct comp_cntr *cntr)
{
	bool kept = kept_back(cq, &e);

	count(cntr, &e);
	return kept || cq_put(cq, &e);
}

bool cq_push_counted(struct cq *cq, const struct uhca_abi_cqe *e, struct comp_cntr *cntr)
{
	if (cq->obj.client->dev->hooks & CORE_HOOK_COMPLETION)
		return push_changed(cq, *e, cntr);
	count(cntr, e);
	return cq_put(cq, e);
}

bool cq_push(struct cq *cq, const struct uhca_abi_cqe *e)
{
	return cq_push_counted(cq, e, NULL);
}

void cq_event(struct cq *cq, uint32_t type)
{
	device_trace(cq->obj.client->dev, CORE_TRACE_EVENT, 0, type, cq->obj.handle);
	event_raise(cq->obj.client, cq->cookie, type, &cq->async_events, &cq->page->async_events);
}

void cq_take_back_events(void *object)
{
	struct cq *cq = object;
	struct client *c = cq->obj.client;
	event_take_back(c, cq->cookie, &cq->async_events, &cq->page->async_events);
	if (cq->channel)
		event_count(&cq->comp_events, &cq->page->comp_events,
			    -(int32_t)c->dev->ops->comp_purge(c->cookie, cq->channel, cq->cookie));
}

bool cq_is_read(const struct cq *cq, uint32_t producer)
{
	return (int32_t)(uhca_ring_observe(&cq->page->ring.consumer) - producer) >= 0 ||
	       uhca_ring_observe(&cq->page->arm);
}

static void describe_cq(const void *object, struct facts *f)
{
	const struct cq *cq = object;
	uint32_t waiting = cq->producer - uhca_ring_observe(&cq->page->ring.consumer);
	facts_number(f, "cqe", cq->cqe);
	facts_number(f, "entries", cq->entries);
	facts_number(f, "producer", cq->producer);
	facts_number(f, "outstanding", waiting <= cq->entries ? waiting : 0);
	facts_number(f, "held", cq->deferred.n);
	facts_number(f, "channel", cq->channel != 0);
	facts_number(f, "armed", uhca_ring_observe(&cq->page->arm));
	facts_text(f, "state", cq->overrun ? "overrun" : "ready");
	facts_number(f, "users", cq->obj.refs);
}

const struct object_type object_cq = {
	.type = CORE_OBJECT_CQ,
	.name = "cq",
	.table = offsetof(struct device, cqs),
	.destroy = cq_destroy,
	.describe = describe_cq,
};
