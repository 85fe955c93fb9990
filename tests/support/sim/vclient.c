/* SPDX-License-Identifier: BSD-2-Clause */
/* See vclient.h: contexts, registrations, events and completion queues. */
#include "vclient.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void events_add(struct vevents *e, uint64_t element, uint32_t type)
{
	if (e->n == e->room) {
		e->room = e->room ? e->room * 2 : 16;
		e->list = realloc(e->list, e->room * sizeof *e->list);
		assert(e->list);
	}
	e->list[e->n++] = (struct vevent){element, type};
}

bool vevents_take(struct vevents *e, struct vevent *out)
{
	if (e->taken == e->n)
		return false;
	*out = e->list[e->taken++];
	return true;
}

unsigned vevents_left(const struct vevents *e)
{
	return e->n - e->taken;
}

unsigned vevents_count(const struct vevents *e, uint32_t type, const void *object)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->n; i++)
		n += e->list[i].type == type && e->list[i].element == (uintptr_t)object;
	return n;
}

/* ---- core_ops ---- */

static int op_mem_read(void *client, const struct core_span *from, unsigned n, void *to)
{
	return memory_read(&((struct vclient *)client)->mem, from, n, to);
}

static int op_mem_write(void *client, const struct core_span *to, unsigned n,
			const struct iovec *from, unsigned n_from)
{
	return memory_write(&((struct vclient *)client)->mem, to, n, from, n_from);
}

static int op_ring_alloc(void *client, size_t size, struct core_ring *out)
{
	struct vclient *c = client;

	/* Exactly size bytes, so that a sanitizer sees what runs over. */
	*out = (struct core_ring){calloc(1, size), size, NULL};
	assert(out->base);
	c->rings++;
	return 0;
}

static void op_ring_free(void *client, struct core_ring *ring)
{
	struct vclient *c = client;

	assert(c->rings);
	c->rings--;
	free(ring->base);
	ring->base = NULL;
}

static bool op_comp_event(void *client, uint32_t channel, uint64_t cookie)
{
	events_add(&((struct vclient *)client)->comp, cookie, channel);
	return true;
}

static uint32_t op_comp_purge(void *client, uint32_t channel, uint64_t cookie)
{
	struct vevents *e = &((struct vclient *)client)->comp;
	unsigned kept = e->taken, before = e->n;

	for (unsigned i = e->taken; i < e->n; i++)
		if (e->list[i].type != channel || e->list[i].element != cookie)
			e->list[kept++] = e->list[i];
	e->n = kept;
	return before - kept;
}

static bool op_async_event(void *client, const struct uhca_abi_async_event *event)
{
	events_add(&((struct vclient *)client)->async, event->element, event->type);
	return true;
}

/* Tests look at the events of objects that are gone: nothing is taken back. */
static uint32_t op_async_purge(void *client, uint64_t cookie)
{
	(void)client, (void)cookie;
	return 0;
}

void vclient_fill_ops(struct core_ops *ops)
{
	ops->mem_read = op_mem_read;
	ops->mem_write = op_mem_write;
	ops->ring_alloc = op_ring_alloc;
	ops->ring_free = op_ring_free;
	ops->comp_event = op_comp_event;
	ops->comp_purge = op_comp_purge;
	ops->async_event = op_async_event;
	ops->async_purge = op_async_purge;
}

/* ---- contexts and registrations ---- */

void vclient_open(struct vclient *c, struct vhost *host, uint32_t window, uint64_t seed)
{
	int rc;

	memset(c, 0, sizeof *c);
	c->host = host;
	memory_construct(&c->mem, window, seed);
	c->core = core_client_create(host->dev, c);
	assert(c->core);
	rc = core_alloc_pd(c->core, &c->pd);
	assert(rc == 0);
	(void)rc;
}

void vclient_close(struct vclient *c)
{
	if (!c->core)
		return;
	core_client_destroy(c->core);
	c->host->dirty = true;
	assert(c->rings == 0);
	memory_destruct(&c->mem);
	free(c->comp.list);
	free(c->async.list);
	memset(c, 0, sizeof *c);
}

int vclient_reg_mr_pd(struct vclient *c, uint32_t pd, const struct vmr *range, uint32_t access,
		      struct vmr *out)
{
	struct uhca_cmd_reg_mr in = {.addr = range->addr,
				     .length = range->length,
				     .iova = range->addr,
				     .pd = pd,
				     .access = access};
	struct uhca_cmd_reg_mr_reply reply = {0};
	int rc = core_reg_mr(c->core, &in, &reply);

	if (rc)
		return rc;
	*out = (struct vmr){range->addr, range->length, reply.handle, reply.lkey, reply.rkey};
	memory_grant_add(&c->mem, reply.lkey, range->addr, range->length,
			 access & IBV_ACCESS_LOCAL_WRITE);
	return 0;
}

int vclient_reg_mr(struct vclient *c, uint64_t addr, uint64_t length, uint32_t access,
		   struct vmr *out)
{
	return vclient_reg_mr_pd(c, c->pd, &(struct vmr){.addr = addr, .length = length}, access,
				 out);
}

int vclient_dereg_mr(struct vclient *c, const struct vmr *mr)
{
	int rc = core_dereg_mr(c->core, mr->handle);

	if (rc == 0 && mr->length) /* a key without memory grants nothing of its own */
		memory_grant_remove(&c->mem, mr->lkey);
	c->host->dirty = true;
	return rc;
}

int vclient_alloc_mw(struct vclient *c, uint32_t pd, uint32_t type, struct vmw *out)
{
	struct uhca_cmd_alloc_mw in = {.pd = pd, .type = type};
	struct uhca_cmd_alloc_mw_reply reply = {0};
	int rc = core_alloc_mw(c->core, &in, &reply);

	if (rc == 0)
		*out = (struct vmw){reply.handle, reply.rkey};
	return rc;
}

int vclient_dealloc_mw(struct vclient *c, const struct vmw *mw)
{
	c->host->dirty = true;
	return core_dealloc_mw(c->core, mw->handle);
}

int vclient_alloc_key(struct vclient *c, uint32_t pd, uint32_t max_entries, struct vmr *out)
{
	struct uhca_cmd_alloc_key in = {.pd = pd, .max_entries = max_entries};
	struct uhca_cmd_reg_mr_reply reply = {0};
	int rc = core_alloc_key(c->core, &in, &reply);

	if (rc == 0)
		*out = (struct vmr){.handle = reply.handle, .lkey = reply.lkey, .rkey = reply.rkey};
	return rc;
}

int vclient_describe_key(struct vclient *c, uint32_t shape, const struct uhca_abi_layout *layout,
			 const void *list, uint32_t bytes)
{
	struct uhca_cmd_describe_key in = {.shape = shape, .bytes = bytes, .layout = *layout};

	assert(bytes <= sizeof(in.list));
	memcpy(in.list, list, bytes);
	return core_describe_key(c->core, &in);
}

int vclient_create_ah(struct vclient *c, const struct vhost *to, uint8_t gid_index,
		      uint32_t *handle)
{
	struct uhca_cmd_create_ah in = {.pd = c->pd,
					.attr = {.is_global = 1, .port_num = 1, .hop_limit = 64}};

	in.attr.sgid_index = gid_index;
	memcpy(in.attr.dgid, to->gid[gid_index], 16);
	return core_create_ah(c->core, &in, handle);
}

/* ---- completion queues ---- */

int vcq_create(struct vclient *c, uint32_t cqe, uint32_t channel, struct vcq *out)
{
	struct uhca_cmd_create_cq in = {.cookie = (uintptr_t)out, .cqe = cqe, .channel = channel};
	struct uhca_cmd_create_cq_reply reply = {0};
	struct core_ring ring = {0};
	int rc = core_create_cq(c->core, &in, &reply, &ring);

	if (rc)
		return rc;
	assert(reply.region_size <= ring.size);
	assert(reply.entries_offset + (uint64_t)reply.entries * reply.stride <= ring.size);
	*out = (struct vcq){.c = c,
			    .handle = reply.handle,
			    .cqe = reply.cqe,
			    .entries = reply.entries,
			    .stride = reply.stride,
			    .ring = ring,
			    .page = ring.base,
			    .slots = (uint8_t *)ring.base + reply.entries_offset};
	if (reply.copies_on_poll_offset)
		out->copies_on_poll = (void *)((uint8_t *)ring.base + reply.copies_on_poll_offset);
	out->page->ring.takes_copies_on_poll = c->takes_copies_on_poll;
	return 0;
}

int vcq_destroy(struct vcq *cq)
{
	return core_destroy_cq(cq->c->core, cq->handle);
}

/* What the provider does (poll/take_copy_on_poll.c). */
static void take_copy_on_poll(struct vcq *cq, const struct uhca_abi_cqe *e)
{
	struct uhca_abi_copy_on_poll *o = &cq->copies_on_poll[e->copy_on_poll];
	const struct core_span to = {.addr = o->addr, .length = o->length};
	const struct iovec from = {o->bytes, o->length};
	int rc = 0;

	if (uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_PENDING,
				       UHCA_ABI_COPY_ON_POLL_CLIENT)) {
		rc = memory_write(&cq->c->mem, &to, 1, &from, 1);
		uhca_copy_on_poll_set(o, UHCA_ABI_COPY_ON_POLL_DONE);
	}
	assert(rc == 0);
	(void)rc;
}

bool vcq_poll(struct vcq *cq, struct uhca_abi_cqe *out)
{
	for (;;) {
		const uint8_t *slot =
			cq->slots + (size_t)(cq->consumer & (cq->entries - 1)) * cq->stride;
		const struct uhca_abi_cqe *e = (const void *)slot;

		if (uhca_ring_observe(&e->sequence) != cq->consumer + 1)
			return false;
		*out = *e;
		if (out->flags & UHCA_ABI_WC_COPY_ON_POLL)
			take_copy_on_poll(cq, e);
		uhca_ring_publish(&cq->page->ring.consumer, ++cq->consumer);
		if (!(out->flags & UHCA_ABI_WC_SKIP))
			return true;
	}
}

void vcq_arm(struct vcq *cq, bool solicited_only)
{
	__atomic_fetch_or(&cq->page->arm,
			  solicited_only ? UHCA_ABI_ARM_SOLICITED : UHCA_ABI_ARM_NEXT,
			  __ATOMIC_SEQ_CST);
}
