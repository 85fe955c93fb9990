/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadline heap: the parent of entry i is entry (i - 1) / 2 and is never later. Every timer knows
 * its place, so that moving and cancelling cost a walk along one branch.
 */
#include "timer.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

void timer_heap_construct(struct timer_heap *h)
{
	*h = (struct timer_heap){.slow = 1};
}

void timer_heap_destruct(struct timer_heap *h)
{
	free(h->heap);
	timer_heap_construct(h);
}

int timer_heap_reserve(struct timer_heap *h, uint32_t n)
{
	if (n <= h->size)
		return 0;
	if (n > 1u << 31)
		return -ENOMEM;
	uint32_t size = h->size ? h->size : 16;
	while (size < n)
		size *= 2;
	struct timer **heap = realloc(h->heap, (size_t)size * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	h->heap = heap;
	h->size = size;
	return 0;
}

static void place(struct timer_heap *h, uint32_t i, struct timer *t)
{
	h->heap[i] = t;
	t->position = i + 1;
}

static void sift_up(struct timer_heap *h, uint32_t i, struct timer *t)
{
	while (i > 0 && h->heap[(i - 1) / 2]->deadline > t->deadline) {
		place(h, i, h->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(h, i, t);
}

static void sift_down(struct timer_heap *h, uint32_t i, struct timer *t)
{
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= h->used)
			break;
		if (child + 1 < h->used && h->heap[child + 1]->deadline < h->heap[child]->deadline)
			child++;
		if (h->heap[child]->deadline >= t->deadline)
			break;
		place(h, i, h->heap[child]);
		i = child;
	}
	place(h, i, t);
}

/* The timer at i has a new deadline: where does it belong? */
static void settle(struct timer_heap *h, uint32_t i, struct timer *t)
{
	if (i > 0 && h->heap[(i - 1) / 2]->deadline > t->deadline)
		sift_up(h, i, t);
	else
		sift_down(h, i, t);
}

void timer_set(struct timer_heap *h, struct timer *t, uint64_t deadline)
{
	uint32_t i = t->position - 1;
	t->deadline = deadline;
	if (!timer_is_set(t)) {
		assert(h->used < h->size); /* timer_heap_reserve made room */
		i = h->used++;
		h->heap[i] = t;
	}
	settle(h, i, t);
}

void timer_cancel(struct timer_heap *h, struct timer *t)
{
	if (!timer_is_set(t))
		return;
	uint32_t i = t->position - 1;
	struct timer *last = h->heap[--h->used];
	t->position = 0;
	if (last != t)
		settle(h, i, last);
}

uint64_t timer_heap_next(const struct timer_heap *h)
{
	uint64_t deadline;

	if (!h->used || h->stands)
		return UINT64_MAX;
	deadline = h->heap[0]->deadline;
	return deadline > h->time ? h->at + (deadline - h->time) * h->slow : h->at;
}

struct timer *timer_heap_due(const struct timer_heap *h, uint64_t now)
{
	return timer_heap_next(h) <= now && h->used && !h->stands ? h->heap[0] : NULL;
}

void timer_heap_stand(struct timer_heap *h, bool on, uint64_t now)
{
	if (on == h->stands)
		return;
	h->time = timer_heap_time(h, now);
	h->at = now;
	h->stands = on;
}

void timer_heap_skip(struct timer_heap *h, uint64_t time)
{
	if (!h->stands)
		h->at += time;
}

void timer_heap_pass(struct timer_heap *h, uint64_t now, uint64_t passed)
{
	if (!h->stands)
		h->time += passed;
	h->at = now;
}

void timer_heap_run(struct timer_heap *h, uint64_t now)
{
	/* At most one call for each: a timer that sets itself to the past cannot hold us here. */
	uint32_t budget = h->used < TIMERS_AT_ONCE ? h->used : TIMERS_AT_ONCE;

	for (; budget > 0 && timer_heap_next(h) <= now; budget--) {
		if (!h->used || h->stands)
			break;
		struct timer *t = h->heap[0];
		timer_cancel(h, t);
		t->fire(t, now);
	}
}
