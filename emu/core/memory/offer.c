/* SPDX-License-Identifier: BSD-2-Clause */
#include "offer.h"

#include <errno.h>
#include <string.h>

#define PATIENCE_NS 1000000u
#define LATER_NS    99000000u

void offer_ring_construct(struct offer_ring *r, struct client *c, void *slots)
{
	list_init(&r->link);
	r->client = c;
	r->slots = slots;
	r->head = r->n = r->settled = 0;
}

static struct uhca_abi_offer *first(const struct offer_ring *r)
{
	return &r->slots[r->head];
}

static void drop_first(struct offer_ring *r)
{
	r->head = (r->head + 1) % UHCA_ABI_OFFERS;
	r->settled -= r->settled != 0;
	if (--r->n == 0)
		list_remove(&r->link);
}

/* What the program has taken is free; a lie about it costs nobody else anything. */
static void reclaim(struct offer_ring *r)
{
	while (r->n && uhca_offer_state(first(r)) == UHCA_ABI_OFFER_DONE)
		drop_first(r);
}

static void gather(uint8_t *to, const struct iovec *iov, unsigned n)
{
	for (unsigned i = 0; i < n; to += iov[i++].iov_len)
		memcpy(to, iov[i].iov_base, iov[i].iov_len);
}

bool offer_put(struct offer_ring *r, uint64_t addr, const struct iovec *iov, unsigned n,
	       uint32_t *slot)
{
	struct uhca_abi_offer *o;
	size_t length = 0;

	for (unsigned i = 0; i < n; i++)
		length += iov[i].iov_len;
	reclaim(r);
	if (!r->slots || length > UHCA_ABI_OFFER_BYTES || r->n == UHCA_ABI_OFFERS)
		return false;
	if (r->settled == r->n)
		r->since = r->client->dev->now;
	if (r->n == 0) { /* the slots that were used last are in the caches */
		r->head = 0;
		list_append(&r->client->dev->offers, &r->link);
	}
	*slot = (r->head + r->n) % UHCA_ABI_OFFERS;
	r->n++;
	r->record[*slot].addr = addr;
	r->record[*slot].length = (uint32_t)length;
	o = &r->slots[*slot];
	o->addr = addr;
	o->length = (uint32_t)length;
	gather(o->bytes, iov, n);
	uhca_offer_set(o, UHCA_ABI_OFFER_PENDING);
	return true;
}

/* ---- settling ---- */

/* Nobody but us may be told that it is there: false, there is nothing to store. */
static bool take(struct uhca_abi_offer *o, struct offer_record *rec)
{
	if (uhca_offer_turn(o, UHCA_ABI_OFFER_PENDING, UHCA_ABI_OFFER_DEVICE))
		rec->back = UHCA_ABI_OFFER_DONE;
	else if (uhca_offer_turn(o, UHCA_ABI_OFFER_CLIENT, UHCA_ABI_OFFER_DEVICE))
		rec->back = UHCA_ABI_OFFER_CLIENT;
	else
		return false;
	return true;
}

/*
 * Bytes for a page that is not there any more are lost, as they are to an adapter, whose page
 * nobody sees then. False: memory does not answer now, and the program has them still.
 */
static bool store(struct offer_ring *r, uint32_t slot)
{
	struct uhca_abi_offer *o = &r->slots[slot];
	struct offer_record *rec = &r->record[slot];
	const struct core_span to = {
		.addr = rec->addr, .length = rec->length, .space = CORE_SPACE_CLIENT};
	const struct iovec from = {o->bytes, to.length};

	if (!take(o, rec) ||
	    r->client->dev->ops->mem_write(r->client->cookie, &to, 1, &from, 1) != -ESRCH)
		return true;
	uhca_offer_set(o, rec->back == UHCA_ABI_OFFER_CLIENT ? UHCA_ABI_OFFER_CLIENT
							     : UHCA_ABI_OFFER_PENDING);
	return false;
}

/* Those from the first to the end are in memory now, and the program may know. */
static void finish(struct offer_ring *r, uint32_t first, uint32_t end)
{
	const struct device *dev = r->client->dev;

	if (first != end && dev->ops->mem_settle)
		dev->ops->mem_settle(dev->user);
	for (uint32_t i = first; i < end; i++) {
		uint32_t slot = (r->head + i) % UHCA_ABI_OFFERS;

		uhca_offer_turn(&r->slots[slot], UHCA_ABI_OFFER_DEVICE, r->record[slot].back);
	}
}

static void settle(struct offer_ring *r)
{
	uint32_t first = r->settled;

	while (r->settled < r->n && store(r, (r->head + r->settled) % UHCA_ABI_OFFERS))
		r->settled++;
	finish(r, first, r->settled);
	reclaim(r);
}

void offer_ring_end(struct offer_ring *r)
{
	settle(r);
	r->n = 0;
	list_remove(&r->link);
}

void offers_settle(struct device *dev)
{
	struct list *next;

	for (struct list *l = dev->offers.next; l != &dev->offers; l = next) {
		next = l->next;
		settle(list_entry(l, struct offer_ring, link));
	}
}

static bool touches(const struct offer_record *rec, const struct core_span *span)
{
	return span->space == CORE_SPACE_CLIENT && span->addr < rec->addr + rec->length &&
	       rec->addr < span->addr + span->length;
}

static bool collides(const struct offer_ring *r, const struct core_span *span, unsigned n)
{
	for (uint32_t i = 0; i < r->settled; i++) {
		uint32_t slot = (r->head + i) % UHCA_ABI_OFFERS;

		if (uhca_offer_state(&r->slots[slot]) == UHCA_ABI_OFFER_DONE)
			continue;
		for (unsigned s = 0; s < n; s++)
			if (touches(&r->record[slot], &span[s]))
				return true;
	}
	return false;
}

bool offers_collide(const struct client *c, const struct core_span *span, unsigned n)
{
	for (const struct list *l = c->dev->offers.next; l != &c->dev->offers; l = l->next) {
		const struct offer_ring *r = list_entry(l, const struct offer_ring, link);

		if (r->client == c && collides(r, span, n))
			return true;
	}
	return false;
}

uint64_t offers_due(const struct device *dev)
{
	uint64_t due = UINT64_MAX;

	for (const struct list *l = dev->offers.next; l != &dev->offers; l = l->next) {
		const struct offer_ring *r = list_entry(l, const struct offer_ring, link);

		if (r->settled < r->n && r->since + PATIENCE_NS < due)
			due = r->since + PATIENCE_NS;
	}
	return due;
}

void offers_tick(struct device *dev)
{
	struct list *next;

	for (struct list *l = dev->offers.next; l != &dev->offers; l = next) {
		struct offer_ring *r = list_entry(l, struct offer_ring, link);

		next = l->next;
		reclaim(r);
		if (r->settled == r->n || r->since + PATIENCE_NS > dev->now)
			continue;
		settle(r);
		if (r->settled < r->n) /* memory does not answer */
			r->since = dev->now + LATER_NS;
	}
}
