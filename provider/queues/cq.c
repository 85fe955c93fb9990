/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues (ibv_create_cq(3), ibv_get_cq_event(3)). The ring
 * belongs to the device, which made its region; we own the consumer index and the arm word.
 */
#include "cq.h"

#include "emu/abi/event.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/keys/keys.h"
#include "work_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Smallest queue asked for. ibv_create_cq(3) lets a device round up, hardware does, and programs
 * lean on it: ib_send_lat -e has a queue of one entry and leaves a completion in it now and then.
 */
#define CQE_MIN 16

static uint64_t cookie_of(const struct uhcav_cq *cq)
{
	return (uintptr_t)&cq->cq;
}

static int create_command(struct uhcav_cq *cq, const struct uhcav_cq_init *init,
			  struct uhca_cmd_create_cq_reply *reply, int *fd)
{
	struct uhca_cmd_create_cq request = {.cookie = cookie_of(cq),
					     .cqe = init->cqe < CQE_MIN ? CQE_MIN
									: (uint32_t)init->cqe,
					     .channel = cq->channel ? cq->channel->handle : 0,
					     .comp_vector = (uint32_t)init->comp_vector,
					     .flags = init->flags};
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_CQ, &request, reply, .recv_fd = fd, .n_recv_fd = 1);

	return uhcav_context_call(cq->ctx, &call);
}

/* Does the ring that the reply describes lie in its region? */
static bool layout_fits(const struct uhca_cmd_create_cq_reply *r)
{
	uint64_t bytes = (uint64_t)r->entries * r->stride;

	return r->entries && !(r->entries & (r->entries - 1)) && r->stride >= UHCA_ABI_CQE_SIZE &&
	       r->stride % 8 == 0 && r->entries_offset % 8 == 0 &&
	       r->entries_offset >= sizeof(struct uhca_abi_cq) &&
	       r->entries_offset <= r->region_size && bytes <= r->region_size - r->entries_offset;
}

/* Do its slots for copies on poll, if it has any, lie in the region? */
static bool copies_on_poll_fit(const struct uhca_cmd_create_cq_reply *r)
{
	uint64_t bytes = UHCA_ABI_COPY_ON_POLL_SLOTS * sizeof(struct uhca_abi_copy_on_poll);

	return !r->copies_on_poll_offset ||
	       (r->copies_on_poll_offset % 8 == 0 &&
		r->copies_on_poll_offset >= sizeof(struct uhca_abi_cq) &&
		r->copies_on_poll_offset <= r->region_size &&
		bytes <= r->region_size - r->copies_on_poll_offset);
}

int uhcav_cq_map(struct uhcav_cq *cq, const struct uhca_cmd_create_cq_reply *r, int fd)
{
	void *base;
	int err = uhcav_context_map(fd, r->region_size, true, UHCA_ABI_REGION_CQ, &base);

	if (err)
		return err;
	if (!layout_fits(r) || !copies_on_poll_fit(r)) {
		munmap(base, r->region_size);
		return -EPROTO;
	}
	if (cq->page)
		munmap(cq->page, cq->region_size);
	cq->page = base;
	cq->entries = (uint8_t *)base + r->entries_offset;
	cq->copies_on_poll = r->copies_on_poll_offset
				     ? (void *)((uint8_t *)base + r->copies_on_poll_offset)
				     : NULL;
	cq->mask = r->entries - 1;
	cq->stride = r->stride;
	cq->region_size = r->region_size;
	cq->cq.cqe = (int)r->cqe;
	cq->page->ring.handled = cq->handled;
	uhca_ring_publish(&cq->page->ring.reports_handled, !cq->ignore_overrun);
	uhca_ring_publish(&cq->page->ring.takes_copies_on_poll,
			  cq->copies_on_poll && !uhcav_check_any());
	return 0;
}

static int open_cq(struct uhcav_cq *cq, const struct uhcav_cq_init *init)
{
	struct uhca_cmd_create_cq_reply reply;
	int fd;
	int err = create_command(cq, init, &reply, &fd);

	if (err)
		return err;
	err = uhcav_cq_map(cq, &reply, fd);
	if (err) {
		uhcav_context_call_handle(cq->ctx, UHCA_CMD_DESTROY_CQ, reply.handle);
		return err;
	}
	cq->cq.handle = reply.handle;
	return 0;
}

static int check_init(struct ibv_context *ibctx, const struct uhcav_cq_init *init)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);

	if (init->cqe < 1)
		return uhcav_refuse(ctx, "create_cq", -EINVAL, "cqe %d is less than 1", init->cqe);
	if (init->comp_vector < 0 || init->comp_vector >= ibctx->num_comp_vectors)
		return uhcav_refuse(ctx, "create_cq", -EINVAL,
				    "comp_vector %d is not below num_comp_vectors, %d",
				    init->comp_vector, ibctx->num_comp_vectors);
	if (init->channel && init->channel->context != ibctx)
		return uhcav_refuse(ctx, "create_cq", -EINVAL,
				    "channel belongs to another context");
	return 0;
}

static void daemon_gone(struct uhcav_listener *l)
{
	uhcav_cq_fire((struct uhcav_cq *)(void *)((char *)l - offsetof(struct uhcav_cq, listener)));
}

int uhcav_cq_create(struct ibv_context *ibctx, const struct uhcav_cq_init *init,
		    struct uhcav_cq **out)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhcav_cq *cq;
	int err;

	err = check_init(ibctx, init);
	if (err)
		return err;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->ctx = ctx;
	cq->cq.context = ibctx;
	cq->ignore_overrun = init->flags & UHCA_ABI_CQ_IGNORE_OVERRUN;
	uhcav_lock_init(&cq->lock, ctx->single_threaded || init->single_threaded ||
					   uhcav_pd_single_threaded(init->pd));
	uhcav_number_map_construct(&cq->qps);
	uhcav_number_map_construct(&cq->queues);
	if (init->channel) {
		err = uhcav_channel_get(ctx, init->channel->fd, &cq->channel);
		if (err)
			goto err_free;
	}
	err = open_cq(cq, init);
	if (err)
		goto err_channel;
	cq->parent = uhcav_parent_domain_join(init->pd);
	cq->inside.domain = uhcav_parent_domain_inside(cq->parent);
	cq->listener.daemon_gone = daemon_gone;
	uhcav_context_listen(ctx, &cq->listener);
	*out = cq;
	return 0;

err_channel:
	if (cq->channel)
		uhcav_channel_put(cq->channel);
err_free:
	free(cq);
	return err;
}

struct ibv_cq *uhcav_create_cq(struct ibv_context *ibctx, int cqe, struct ibv_comp_channel *channel,
			       int comp_vector)
{
	struct uhcav_cq_init init = {.cqe = cqe, .comp_vector = comp_vector, .channel = channel};
	struct uhcav_cq *cq;
	int err = uhcav_cq_create(ibctx, &init, &cq);

	return err ? uhcav_no_object(NULL, err) : &cq->cq;
}

static bool in_use(struct uhcav_cq *cq)
{
	bool used;

	uhcav_lock(&cq->lock);
	used = cq->qps.n != 0;
	uhcav_unlock(&cq->lock);
	return used;
}

struct held {
	uint32_t sent, dropped;
};

static bool holds_events(struct uhcav_cq *cq, const struct held *comp, const struct held *async)
{
	return uhcav_events_held(comp->sent, comp->dropped,
				 __atomic_load_n(&cq->comp_events_read, __ATOMIC_ACQUIRE),
				 cq->cq.comp_events_completed) ||
	       uhcav_events_held(async->sent, async->dropped,
				 __atomic_load_n(&cq->async_events_read, __ATOMIC_ACQUIRE),
				 cq->cq.async_events_completed);
}

/*
 * Takes back the events nobody has read. Every one that was read is acknowledged when this
 * returns, as ibv_destroy_cq(3) promises.
 */
static void settle_events(struct uhcav_cq *cq)
{
	struct held comp = {.sent = uhcav_device_count(cq->ctx, &cq->page->comp_events)};
	struct held async = {.sent = uhcav_device_count(cq->ctx, &cq->page->async_events)};

	if (cq->channel)
		comp.dropped = uhcav_event_queue_purge(&cq->channel->events, cookie_of(cq));
	async.dropped = uhcav_async_purge(cq->ctx, cookie_of(cq));
	pthread_mutex_lock(&cq->cq.mutex);
	while (holds_events(cq, &comp, &async))
		pthread_cond_wait(&cq->cq.cond, &cq->cq.mutex);
	pthread_mutex_unlock(&cq->cq.mutex);
}

int uhcav_destroy_cq(struct ibv_cq *ibcq)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	int err = uhcav_context_call_destroy(uhcav_context_of(ibcq->context), UHCA_CMD_DESTROY_CQ,
					     ibcq->handle);

	if (err)
		return uhcav_result(err);
	/* A dead device does not say so; but QPs point here. */
	if (in_use(cq))
		return uhcav_failed(uhcav_refuse(cq->ctx, "destroy_cq", EBUSY,
						 "the CQ is in use by queue pairs or work queues"));
	uhcav_context_unlisten(cq->ctx, &cq->listener);
	if (uhcav_life(cq->ctx) != UHCAV_FORKED)
		settle_events(cq);
	if (cq->channel)
		uhcav_channel_put(cq->channel);
	munmap(cq->page, cq->region_size);
	uhcav_number_map_destruct(&cq->qps);
	uhcav_number_map_destruct(&cq->queues);
	uhcav_parent_domain_part(cq->parent);
	uhcav_let_go(cq);
	return 0;
}

void uhcav_cq_fire(struct uhcav_cq *cq)
{
	struct uhca_abi_comp_event event = {.cookie = cookie_of(cq)};
	uint32_t armed;

	uhcav_lock(&cq->lock);
	armed = __atomic_exchange_n(&cq->page->arm, 0, __ATOMIC_ACQ_REL);
	uhcav_unlock(&cq->lock);
	if (armed && cq->channel)
		uhcav_event_queue_put(&cq->channel->events, &event);
}

void uhcav_cq_event(struct ibv_cq *ibcq)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);

	uhcav_rpc_order(&cq->ctx->rpc);
	uhcav_event_queue_refill(&cq->channel->events);
	__atomic_fetch_add(&cq->comp_events_read, 1, __ATOMIC_RELEASE);
}

int uhcav_cq_attach(struct uhcav_cq *cq, uint32_t qpn, struct uhcav_qp *qp)
{
	int err;

	uhcav_lock(&cq->lock);
	err = uhcav_number_map_add(&cq->qps, qpn, qp);
	uhcav_unlock(&cq->lock);
	return err;
}

void uhcav_cq_detach(struct uhcav_cq *cq, uint32_t qpn)
{
	uhcav_lock(&cq->lock);
	uhcav_number_map_remove(&cq->qps, qpn);
	uhcav_unlock(&cq->lock);
}

int uhcav_cq_attach_queue(struct uhcav_cq *cq, uint32_t key, struct uhcav_work_queue *wq)
{
	int err;

	uhcav_lock(&cq->lock);
	err = uhcav_number_map_add(&cq->queues, key, wq);
	if (!err)
		wq->leaves_when_taken = cq->ignore_overrun;
	uhcav_unlock(&cq->lock);
	return err;
}

/* Completions of an XRC SRQ stay, but not for the next SRQ of that number. */
void uhcav_cq_detach_queue(struct uhcav_cq *cq, uint32_t key)
{
	uhcav_cq_lock(cq);
	uhcav_number_map_remove(&cq->queues, key);
	for (uint32_t i = cq->consumer; uhcav_cqe_valid(uhcav_cq_slot(cq, i), i); i++) {
		struct uhca_abi_cqe *e = uhcav_cq_slot(cq, i);
		if (e->srqn && uhcav_xrc_key(e->srqn) == key)
			e->srqn = 0;
	}
	uhcav_unlock(&cq->lock);
}

void uhcav_cq_skip(struct uhcav_cq *cq, uint32_t qpn, struct uhcav_work_queue *srq)
{
	uhcav_cq_lock(cq);
	for (uint32_t i = cq->consumer; uhcav_cqe_valid(uhcav_cq_slot(cq, i), i); i++) {
		struct uhca_abi_cqe *e = uhcav_cq_slot(cq, i);
		if (e->qpn != qpn || (e->flags & UHCA_ABI_WC_SKIP))
			continue;
		e->flags |= UHCA_ABI_WC_SKIP;
		if (srq && uhca_cqe_is_receive(e))
			uhcav_work_queue_polled_one(srq);
	}
	uhcav_unlock(&cq->lock);
}
