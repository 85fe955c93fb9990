/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of held packets: until a time, until others overtake them, or until a step. */
#include "hold.h"

#include "emu/array/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- queues ---- */

static void append(struct fault_queue *q, struct fault_held *e)
{
	e->prev = q->last;
	e->next = NULL;
	*(q->last ? &q->last->next : &q->first) = e;
	q->last = e;
}

static void unlink_held(struct fault_queue *q, struct fault_held *e)
{
	*(e->prev ? &e->prev->next : &q->first) = e->next;
	*(e->next ? &e->next->prev : &q->last) = e->prev;
}

/* ---- the heap ---- */

static bool is_before(const struct fault_held *a, const struct fault_held *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void heap_place(struct fault_hold *h, unsigned slot, struct fault_held *e)
{
	h->timed[slot] = e;
	e->slot = slot;
}

/* e's place is at slot or nearer to the top. */
static void rise(struct fault_hold *h, unsigned slot, struct fault_held *e)
{
	for (; slot > 0 && is_before(e, h->timed[(slot - 1) / 2]); slot = (slot - 1) / 2)
		heap_place(h, slot, h->timed[(slot - 1) / 2]);
	heap_place(h, slot, e);
}

/* The place at the top is free, and e belongs there or below. */
static void sink(struct fault_hold *h, struct fault_held *e)
{
	unsigned slot = 0, child;

	while ((child = 2 * slot + 1) < h->n_timed) {
		if (child + 1 < h->n_timed && is_before(h->timed[child + 1], h->timed[child]))
			child++;
		if (!is_before(h->timed[child], e))
			break;
		heap_place(h, slot, h->timed[child]);
		slot = child;
	}
	heap_place(h, slot, e);
}

/* ---- copies ---- */

static void copy_payload(struct fault_held *e, const struct core_burst *t)
{
	uint8_t *p = e->payload;

	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	e->burst.n_iov = t->length ? 1 : 0;
	e->burst.iov[0] = (struct iovec){e->payload, t->length};
	e->burst.head.payload = t->length ? e->payload : NULL;
	e->burst.head.payload_len = t->length;
}

static size_t memory_of(const struct core_burst *t)
{
	return sizeof(struct fault_held) + t->length;
}

static struct fault_held *copy(struct fault_hold *h, const struct fault_to_hold *what)
{
	const struct core_burst *t = what->burst;
	struct fault_held *e;

	if (h->bytes + memory_of(t) > FAULT_HOLD_BYTES)
		return NULL;
	e = malloc(memory_of(t));
	if (!e)
		return NULL;
	e->dir = what->dir;
	e->since = what->since;
	e->due = what->due;
	e->overtakers = what->overtakers;
	e->made = what->made;
	e->burst = *t;
	copy_payload(e, t);
	e->number = ++h->last_number;
	e->order = ++h->last_order;
	h->bytes += memory_of(t);
	return e;
}

bool fault_hold_time(struct fault_hold *h, const struct fault_to_hold *what)
{
	struct fault_held *e = array_make_room(&h->timed, h->n_timed, &h->room, sizeof(*h->timed))
				       ? copy(h, what)
				       : NULL;

	if (!e)
		return false;
	rise(h, h->n_timed++, e);
	if (e->overtakers)
		append(&h->reordered, e);
	return true;
}

bool fault_hold_step(struct fault_hold *h, const struct fault_to_hold *what)
{
	struct fault_held *e = h->n_stepped < FAULT_HOLD_STEPPED ? copy(h, what) : NULL;

	if (!e)
		return false;
	append(&h->stepped, e);
	h->n_stepped++;
	return true;
}

/* ---- time ---- */

static struct fault_held *take_first(struct fault_hold *h)
{
	struct fault_held *e = h->timed[0], *last = h->timed[--h->n_timed];

	if (h->n_timed)
		sink(h, last);
	if (e->overtakers)
		unlink_held(&h->reordered, e);
	h->bytes -= memory_of(&e->burst);
	return e;
}

struct fault_held *fault_hold_due(struct fault_hold *h, uint64_t now)
{
	return h->n_timed && h->timed[0]->due <= now ? take_first(h) : NULL;
}

uint64_t fault_hold_deadline(const struct fault_hold *h)
{
	return h->n_timed ? h->timed[0]->due : UINT64_MAX;
}

/* ---- order ---- */

static bool same_flow(const struct core_burst *a, const struct core_burst *b)
{
	return a->head.bth.dest_qp == b->head.bth.dest_qp &&
	       memcmp(a->flow.src, b->flow.src, sizeof(a->flow.src)) == 0 &&
	       memcmp(a->flow.dst, b->flow.dst, sizeof(a->flow.dst)) == 0;
}

/* Who has seen them all go by is due at once, whatever the time: the first of all. */
static void let_go(struct fault_hold *h, struct fault_held *e)
{
	unlink_held(&h->reordered, e);
	e->due = 0;
	e->order = ++h->last_order;
	rise(h, e->slot, e);
}

void fault_hold_overtake(struct fault_hold *h, enum fault_direction dir,
			 const struct core_burst *by)
{
	struct fault_held *next;

	for (struct fault_held *e = h->reordered.first; e; e = next) {
		next = e->next;
		if (e->dir == dir && same_flow(&e->burst, by) && --e->overtakers == 0)
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
	unlink_held(&h->stepped, e);
	h->n_stepped--;
	h->bytes -= memory_of(&e->burst);
	return e;
}

void fault_hold_clear(struct fault_hold *h)
{
	while (h->n_timed)
		free(take_first(h));
	while (h->stepped.first)
		free(fault_hold_take_step(h, h->stepped.first));
	free(h->timed);
	h->timed = NULL;
	h->room = 0;
}
