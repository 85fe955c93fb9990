/* SPDX-License-Identifier: BSD-2-Clause */
/* See events.h. Entries of 16 bytes: the four children of a node lie in one line of the cache. */
#include "events.h"

#include <errno.h>
#include <stdlib.h>

int fabric_events_init(struct fabric_events *q, uint32_t n, uint32_t *positions)
{
	*q = (struct fabric_events){.position = positions};
	return fabric_events_reserve(q, n);
}

void fabric_events_fini(struct fabric_events *q)
{
	free(q->heap);
	q->heap = NULL;
}

int fabric_events_reserve(struct fabric_events *q, uint32_t n)
{
	struct fabric_event *heap;

	if (n <= q->size)
		return 0;
	heap = realloc(q->heap, n * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	q->heap = heap;
	q->size = n;
	return 0;
}

static inline bool before(const struct fabric_event *a, const struct fabric_event *b)
{
	return a->time < b->time || (a->time == b->time && (int32_t)(a->order - b->order) < 0);
}

static inline void put(struct fabric_events *q, uint32_t i, struct fabric_event e)
{
	q->heap[i] = e;
	q->position[e.slot] = i + 1;
}

static void rise(struct fabric_events *q, uint32_t i, struct fabric_event e)
{
	while (i) {
		const uint32_t up = (i - 1) / 4;

		if (!before(&e, &q->heap[up]))
			break;
		put(q, i, q->heap[up]);
		i = up;
	}
	put(q, i, e);
}

static void sink(struct fabric_events *q, uint32_t i, struct fabric_event e)
{
	for (;;) {
		const uint32_t first = 4 * i + 1;
		const uint32_t end = first + 4 < q->used ? first + 4 : q->used;
		uint32_t least = first;

		if (first >= q->used)
			break;
		for (uint32_t k = first + 1; k < end; k++)
			least = before(&q->heap[k], &q->heap[least]) ? k : least;
		if (!before(&q->heap[least], &e))
			break;
		put(q, i, q->heap[least]);
		i = least;
	}
	put(q, i, e);
}

static void settle(struct fabric_events *q, uint32_t i, struct fabric_event e)
{
	if (i && before(&e, &q->heap[(i - 1) / 4]))
		rise(q, i, e);
	else
		sink(q, i, e);
}

static void take_off(struct fabric_events *q, uint32_t slot)
{
	const uint32_t i = q->position[slot] - 1;
	const struct fabric_event last = q->heap[--q->used];

	q->position[slot] = 0;
	if (i < q->used)
		settle(q, i, last);
}

void fabric_events_set(struct fabric_events *q, uint32_t slot, uint64_t time)
{
	const struct fabric_event e = {time, q->order++, slot};

	if (time == FABRIC_NEVER) {
		if (q->position[slot])
			take_off(q, slot);
	} else if (q->position[slot]) {
		settle(q, q->position[slot] - 1, e);
	} else {
		rise(q, q->used++, e);
	}
}
