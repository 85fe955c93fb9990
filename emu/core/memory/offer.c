/* SPDX-License-Identifier: BSD-2-Clause */
#include "offer.h"

#include <errno.h>
#include <string.h>

#define PATIENCE_NS 1000000u
#define LATER_NS    9000000u
#define SPINS       2000u /* looks at a program that copies: some microseconds */

void offer_ring_construct(struct offer_ring *r, struct client *c, void *slots)
{
	list_init(&r->link);
	r->client = c;
	r->slots = slots;
	r->head = r->n = 0;
}

static struct uhca_abi_offer *first(const struct offer_ring *r)
{
	return &r->slots[r->head];
}

static void drop_first(struct offer_ring *r)
{
	r->head = (r->head + 1) % UHCA_ABI_OFFERS;
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
	if (r->n == 0) { /* the slots that were used last are in the caches */
		r->head = 0;
		r->waited = false;
		r->since = r->client->dev->now;
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

enum outcome { STORED, COPYING, SILENT };

/*
 * One program that says so for ever does not keep the others waiting; its slot stays taken until
 * it is done.
 */
static enum outcome wait_for_program(struct offer_ring *r, const struct uhca_abi_offer *o)
{
	if (r->waited)
		return STORED;
	for (unsigned i = 0; i < SPINS; i++)
		if (uhca_offer_state(o) == UHCA_ABI_OFFER_DONE)
			return STORED;
	r->waited = true;
	return COPYING;
}

/*
 * Bytes for a page that is not there any more are lost, as they are to an adapter, whose page
 * nobody sees then; where memory does not answer now, the program has them still.
 */
static enum outcome store(struct offer_ring *r, uint32_t slot)
{
	struct uhca_abi_offer *o = &r->slots[slot];
	const struct core_span to = {.addr = r->record[slot].addr,
				     .length = r->record[slot].length,
				     .space = CORE_SPACE_CLIENT};
	const struct iovec from = {o->bytes, to.length};

	if (!uhca_offer_take(o, UHCA_ABI_OFFER_DEVICE))
		return uhca_offer_state(o) == UHCA_ABI_OFFER_DONE ? STORED : wait_for_program(r, o);
	if (r->client->dev->ops->mem_write(r->client->cookie, &to, 1, &from, 1) != -ESRCH)
		return STORED;
	uhca_offer_set(o, UHCA_ABI_OFFER_PENDING);
	return SILENT;
}

/* So many have been stored; now they are in memory, and the program may know. */
static void finish(struct offer_ring *r, uint32_t stored)
{
	const struct device *dev = r->client->dev;

	if (stored && dev->ops->mem_settle)
		dev->ops->mem_settle(dev->user);
	for (uint32_t i = 0; i < stored; i++) {
		struct uhca_abi_offer *o = &r->slots[(r->head + i) % UHCA_ABI_OFFERS];

		if (uhca_offer_state(o) == UHCA_ABI_OFFER_DEVICE)
			uhca_offer_set(o, UHCA_ABI_OFFER_DONE);
	}
	reclaim(r);
}

static enum outcome settle(struct offer_ring *r)
{
	enum outcome o = STORED;
	uint32_t stored = 0;

	while (stored < r->n && (o = store(r, (r->head + stored) % UHCA_ABI_OFFERS)) == STORED)
		stored++;
	finish(r, stored);
	return o;
}

void offer_ring_end(struct offer_ring *r)
{
	(void)settle(r);
	r->n = 0;
	list_remove(&r->link);
}

bool offers_settle(struct device *dev)
{
	bool all = true;
	struct list *next;

	for (struct list *l = dev->offers.next; l != &dev->offers; l = next) {
		next = l->next;
		all &= settle(list_entry(l, struct offer_ring, link)) != COPYING;
	}
	return all;
}

uint64_t offers_due(const struct device *dev)
{
	uint64_t due = UINT64_MAX;

	for (const struct list *l = dev->offers.next; l != &dev->offers; l = l->next) {
		const struct offer_ring *r = list_entry(l, const struct offer_ring, link);

		if (r->since + PATIENCE_NS < due)
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
		if (!r->n || r->since + PATIENCE_NS > dev->now)
			continue;
		(void)settle(r);
		if (r->n) /* it copies, or does not answer: again later */
			r->since = dev->now + LATER_NS;
	}
}
