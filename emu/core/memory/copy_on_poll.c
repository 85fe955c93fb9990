/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts small payloads beside a completion, for the program to copy when it polls. */
#include "copy_on_poll.h"

#include <errno.h>
#include <string.h>

#define PAGE_WORKER_NS 1000000u
#define LATER_NS       99000000u

void copy_on_poll_ring_construct(struct copy_on_poll_ring *r, struct client *c, void *slots)
{
	list_init(&r->link);
	list_init(&r->of_client);
	r->client = c;
	r->slots = slots;
	r->head = r->n = r->settled = 0;
}

static struct uhca_abi_copy_on_poll *first(const struct copy_on_poll_ring *r)
{
	return &r->slots[r->head];
}

static void drop_first(struct copy_on_poll_ring *r)
{
	r->head = (r->head + 1) % UHCA_ABI_COPY_ON_POLL_SLOTS;
	r->settled -= r->settled != 0;
	r->n--;
}

/* Which lists it belongs on, when copies were done or settled. */
static void leave_lists(struct copy_on_poll_ring *r)
{
	if (r->settled == r->n)
		list_remove(&r->link);
	if (r->n || list_empty(&r->of_client))
		return;
	list_remove(&r->of_client);
	r->client->n_copies_on_poll--;
}

/* What the program has taken is free; a lie about it costs nobody else anything. */
static void reclaim(struct copy_on_poll_ring *r)
{
	while (r->n && uhca_copy_on_poll_state(first(r)) == UHCA_ABI_COPY_ON_POLL_DONE)
		drop_first(r);
	leave_lists(r);
}

/* Room among the client's rings that have copies waiting: those that it has done have none. */
static bool has_ring(struct copy_on_poll_ring *r)
{
	struct client *c = r->client;
	struct list *next;

	if (r->n || c->n_copies_on_poll < COPY_ON_POLL_RINGS)
		return true;
	for (struct list *l = c->copies_on_poll.next; l != &c->copies_on_poll; l = next) {
		next = l->next;
		reclaim(list_entry(l, struct copy_on_poll_ring, of_client));
	}
	return c->n_copies_on_poll < COPY_ON_POLL_RINGS;
}

static void enter_lists(struct copy_on_poll_ring *r)
{
	struct device *dev = r->client->dev;

	if (r->settled == r->n) {
		r->since = dev->now;
		list_append(&dev->copies_on_poll, &r->link);
	}
	if (r->n)
		return;
	r->head = 0; /* the slots that were used last are in the caches */
	list_append(&r->client->copies_on_poll, &r->of_client);
	r->client->n_copies_on_poll++;
}

static void gather(uint8_t *to, const struct iovec *iov, unsigned n)
{
	for (unsigned i = 0; i < n; to += iov[i++].iov_len)
		memcpy(to, iov[i].iov_base, iov[i].iov_len);
}

bool copy_on_poll_put(struct copy_on_poll_ring *r, uint64_t addr, const struct iovec *iov,
		      unsigned n, uint32_t *slot)
{
	struct uhca_abi_copy_on_poll *o;
	size_t length = 0;

	for (unsigned i = 0; i < n; i++)
		length += iov[i].iov_len;
	reclaim(r);
	if (!r->slots || length > UHCA_ABI_COPY_ON_POLL_BYTES ||
	    r->n == UHCA_ABI_COPY_ON_POLL_SLOTS || !has_ring(r))
		return false;
	enter_lists(r);
	*slot = (r->head + r->n) % UHCA_ABI_COPY_ON_POLL_SLOTS;
	r->n++;
	r->record[*slot].addr = addr;
	r->record[*slot].length = (uint32_t)length;
	o = &r->slots[*slot];
	o->addr = addr;
	o->length = (uint32_t)length;
	gather(o->bytes, iov, n);
	uhca_copy_on_poll_set(o, UHCA_ABI_COPY_ON_POLL_PENDING);
	return true;
}

/* ---- settling ---- */

/* The state from which the device took it; DONE: there is nothing to store. */
static uint32_t slot_claim(struct uhca_abi_copy_on_poll *o)
{
	if (uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_PENDING,
				       UHCA_ABI_COPY_ON_POLL_DEVICE))
		return UHCA_ABI_COPY_ON_POLL_PENDING;
	if (uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_CLIENT,
				       UHCA_ABI_COPY_ON_POLL_DEVICE))
		return UHCA_ABI_COPY_ON_POLL_CLIENT;
	return UHCA_ABI_COPY_ON_POLL_DONE;
}

/*
 * Bytes for a page that is not there any more are lost, as they are to an adapter, whose page
 * nobody sees then. False: memory does not answer now, and the program has them still.
 */
static bool store(const struct copy_on_poll_ring *r, uint32_t slot)
{
	struct uhca_abi_copy_on_poll *o = &r->slots[slot];
	const struct copy_on_poll_record *rec = &r->record[slot];
	const struct core_span to = {
		.addr = rec->addr, .length = rec->length, .space = CORE_SPACE_CLIENT};
	const struct iovec from = {o->bytes, to.length};
	uint32_t was = slot_claim(o);
	bool lacks;

	if (was == UHCA_ABI_COPY_ON_POLL_DONE)
		return true;
	lacks = r->client->dev->ops->mem_write(r->client->cookie, &to, 1, &from, 1) == -ESRCH;
	/* The program that copies, too, ends what it began. */
	if (was == UHCA_ABI_COPY_ON_POLL_PENDING && !lacks)
		was = UHCA_ABI_COPY_ON_POLL_DONE;
	uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_DEVICE, was);
	return !lacks;
}

static void settle(struct copy_on_poll_ring *r)
{
	while (r->settled < r->n && store(r, (r->head + r->settled) % UHCA_ABI_COPY_ON_POLL_SLOTS))
		r->settled++;
	reclaim(r);
}

void copy_on_poll_ring_end(struct copy_on_poll_ring *r)
{
	settle(r);
	r->n = r->settled = 0;
	leave_lists(r);
}

static void settle_list(struct list *all)
{
	struct list *next;

	for (struct list *l = all->next; l != all; l = next) {
		next = l->next;
		settle(list_entry(l, struct copy_on_poll_ring, link));
	}
}

void copies_on_poll_settle(struct device *dev)
{
	settle_list(&dev->copies_on_poll);
	settle_list(&dev->copies_on_poll_later);
}

static bool touches(const struct copy_on_poll_record *rec, const struct core_span *span)
{
	return span->space == CORE_SPACE_CLIENT && span->addr < rec->addr + rec->length &&
	       rec->addr < span->addr + span->length;
}

static bool collides(const struct copy_on_poll_ring *r, const struct core_span *span, unsigned n)
{
	for (uint32_t i = 0; i < r->settled; i++) {
		uint32_t slot = (r->head + i) % UHCA_ABI_COPY_ON_POLL_SLOTS;

		if (uhca_copy_on_poll_state(&r->slots[slot]) == UHCA_ABI_COPY_ON_POLL_DONE)
			continue;
		for (unsigned s = 0; s < n; s++)
			if (touches(&r->record[slot], &span[s]))
				return true;
	}
	return false;
}

bool copies_on_poll_collide(const struct client *c, const struct core_span *span, unsigned n)
{
	for (const struct list *l = c->copies_on_poll.next; l != &c->copies_on_poll; l = l->next)
		if (collides(list_entry(l, const struct copy_on_poll_ring, of_client), span, n))
			return true;
	return false;
}

static uint64_t due(const struct list *all)
{
	if (list_empty(all))
		return UINT64_MAX;
	return list_entry(all->next, const struct copy_on_poll_ring, link)->since + PAGE_WORKER_NS;
}

uint64_t copies_on_poll_due(const struct device *dev)
{
	uint64_t a = due(&dev->copies_on_poll), b = due(&dev->copies_on_poll_later);

	return a < b ? a : b;
}

static void tick(struct device *dev, struct list *all)
{
	while (due(all) <= dev->now) {
		struct copy_on_poll_ring *r = list_entry(all->next, struct copy_on_poll_ring, link);

		settle(r);
		if (r->settled == r->n)
			continue;
		r->since = dev->now + LATER_NS; /* memory does not answer */
		list_remove(&r->link);
		list_append(&dev->copies_on_poll_later, &r->link);
	}
}

void copies_on_poll_tick(struct device *dev)
{
	tick(dev, &dev->copies_on_poll);
	tick(dev, &dev->copies_on_poll_later);
}
