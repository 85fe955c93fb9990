/* SPDX-License-Identifier: BSD-2-Clause */
/* See hold.h. */
#include "hold.h"

#include <stdlib.h>
#include <string.h>

/* ---- queues ---- */

static void insert_after(struct fault_queue *q, struct fault_held *where, struct fault_held *e)
{
	e->prev = where;
	e->next = where ? where->next : q->first;
	*(e->next ? &e->next->prev : &q->last) = e;
	*(where ? &where->next : &q->first) = e;
}

static void take_out(struct fault_hold *h, struct fault_queue *q, struct fault_held *e)
{
	*(e->prev ? &e->prev->next : &q->first) = e->next;
	*(e->next ? &e->next->prev : &q->last) = e->prev;
	h->count--;
	h->bytes -= e->train.length;
}

/* ---- copies ---- */

static void copy_payload(struct fault_held *e, const struct core_train *t)
{
	uint8_t *p = e->payload;

	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	e->train.n_iov = t->length ? 1 : 0;
	e->train.iov[0] = (struct iovec){e->payload, t->length};
	e->train.head.payload = t->length ? e->payload : NULL;
	e->train.head.payload_len = t->length;
}

static struct fault_held *copy(struct fault_hold *h, const struct fault_to_hold *what)
{
	const struct core_train *t = what->train;
	struct fault_held *e;

	if (h->count == FAULT_HOLD_PACKETS || h->bytes + t->length > FAULT_HOLD_BYTES)
		return NULL;
	e = malloc(sizeof(*e) + t->length);
	if (!e)
		return NULL;
	e->dir = what->dir;
	e->since = what->since;
	e->due = what->due;
	e->overtakers = what->overtakers;
	e->made = what->made;
	e->train = *t;
	copy_payload(e, t);
	e->number = ++h->last_number;
	h->count++;
	h->bytes += t->length;
	return e;
}

bool fault_hold_time(struct fault_hold *h, const struct fault_to_hold *what)
{
	struct fault_held *where = h->timed.last, *e = copy(h, what);

	if (!e)
		return false;
	while (where && where->due > e->due)
		where = where->prev;
	insert_after(&h->timed, where, e);
	h->reordered += e->overtakers > 0;
	return true;
}

bool fault_hold_step(struct fault_hold *h, const struct fault_to_hold *what)
{
	struct fault_held *e = copy(h, what);

	if (e)
		insert_after(&h->stepped, h->stepped.last, e);
	return e;
}

/* ---- time ---- */

static struct fault_held *take_timed(struct fault_hold *h, struct fault_held *e)
{
	h->reordered -= e->overtakers > 0;
	take_out(h, &h->timed, e);
	return e;
}

struct fault_held *fault_hold_due(struct fault_hold *h, uint64_t now)
{
	struct fault_held *e = h->timed.first;

	return e && e->due <= now ? take_timed(h, e) : NULL;
}

uint64_t fault_hold_deadline(const struct fault_hold *h)
{
	return h->timed.first ? h->timed.first->due : UINT64_MAX;
}

/* ---- order ---- */

static bool same_flow(const struct core_train *a, const struct core_train *b)
{
	return a->head.bth.dest_qp == b->head.bth.dest_qp &&
	       memcmp(a->flow.src, b->flow.src, sizeof(a->flow.src)) == 0 &&
	       memcmp(a->flow.dst, b->flow.dst, sizeof(a->flow.dst)) == 0;
}

/* Who has seen them all go by is due at once, whatever the time: the first of all. */
static void let_go(struct fault_hold *h, struct fault_held *e)
{
	struct fault_held *where = NULL;

	*(e->prev ? &e->prev->next : &h->timed.first) = e->next;
	*(e->next ? &e->next->prev : &h->timed.last) = e->prev;
	e->due = 0;
	for (struct fault_held *i = h->timed.first; i && i->due == 0; i = i->next)
		where = i;
	insert_after(&h->timed, where, e);
	h->reordered--;
}

void fault_hold_overtake(struct fault_hold *h, enum fault_direction dir,
			 const struct core_train *by)
{
	struct fault_held *next;

	for (struct fault_held *e = h->timed.first; e && h->reordered; e = next) {
		next = e->next;
		if (e->overtakers && e->dir == dir && same_flow(&e->train, by) &&
		    --e->overtakers == 0)
			let_go(h, e);
	}
}

struct fault_held *fault_hold_overtaken(struct fault_hold *h)
{
	return fault_hold_due(h, 0);
}

/* ---- people ---- */

struct fault_held *fault_hold_find(const struct fault_hold *h, uint32_t number)
{
	struct fault_held *e = h->stepped.first;

	while (e && e->number != number)
		e = e->next;
	return e;
}

struct fault_held *fault_hold_take_step(struct fault_hold *h, struct fault_held *e)
{
	take_out(h, &h->stepped, e);
	return e;
}

static void clear(struct fault_hold *h, struct fault_queue *q)
{
	while (q->first) {
		struct fault_held *e = q->first;

		take_out(h, q, e);
		free(e);
	}
}

void fault_hold_clear(struct fault_hold *h)
{
	clear(h, &h->timed);
	clear(h, &h->stepped);
	h->reordered = 0;
}
