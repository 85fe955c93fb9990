/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See events.h. Entries of 16 bytes: the four children of a node lie in one line of the cache,
 * which needs the first of them, entry 1, at the beginning of one.
 */
#include "events.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LINE   64u
#define BEFORE 3u /* unused entries */

int fabric_events_init(struct fabric_events *q, uint32_t n, uint32_t *positions)
{
	*q = (struct fabric_events){.position = positions};
	return fabric_events_reserve(q, n);
}

static void release(fabric_event *heap)
{
	if (heap)
		free(heap - BEFORE);
}

void fabric_events_fini(struct fabric_events *q)
{
	release(q->heap);
	q->heap = NULL;
}

int fabric_events_reserve(struct fabric_events *q, uint32_t n)
{
	const size_t lines = (BEFORE + (size_t)n) / 4 + 1;
	fabric_event *heap;

	if (n <= q->size)
		return 0;
	heap = aligned_alloc(LINE, lines * LINE);
	if (!heap)
		return -ENOMEM;
	heap += BEFORE;
	if (q->used)
		memcpy(heap, q->heap, q->used * sizeof(*heap));
	release(q->heap);
	q->heap = heap;
	q->size = n;
	return 0;
}

static inline void put_event(struct fabric_events *q, uint32_t i, fabric_event e)
{
	q->heap[i] = e;
	q->position[fabric_event_slot(e)] = i + 1;
}

static void rise(struct fabric_events *q, uint32_t i, fabric_event e)
{
	while (i) {
		const uint32_t up = (i - 1) / 4;

		if (e > q->heap[up])
			break;
		put_event(q, i, q->heap[up]);
		i = up;
	}
	put_event(q, i, e);
}

static void sink(struct fabric_events *q, uint32_t i, fabric_event e)
{
	for (;;) {
		const uint32_t first = 4 * i + 1;
		const uint32_t end = first + 4 < q->used ? first + 4 : q->used;
		uint32_t least = first;

		if (first >= q->used)
			break;
		for (uint32_t k = first + 1; k < end; k++)
			least = q->heap[k] < q->heap[least] ? k : least;
		if (q->heap[least] > e)
			break;
		put_event(q, i, q->heap[least]);
		i = least;
	}
	put_event(q, i, e);
}

static void settle(struct fabric_events *q, uint32_t i, fabric_event e)
{
	if (i && e < q->heap[(i - 1) / 4])
		rise(q, i, e);
	else
		sink(q, i, e);
}

static void take_off(struct fabric_events *q, uint32_t slot)
{
	const uint32_t i = q->position[slot] - 1;
	const fabric_event last = q->heap[--q->used];

	q->position[slot] = 0;
	if (i < q->used)
		settle(q, i, last);
}

void fabric_events_set(struct fabric_events *q, uint32_t slot, uint64_t time)
{
	const fabric_event e = fabric_event_make(time, q->order++, slot);

	if (time == FABRIC_NEVER) {
		if (q->position[slot])
			take_off(q, slot);
	} else if (q->position[slot]) {
		settle(q, q->position[slot] - 1, e);
	} else {
		rise(q, q->used++, e);
	}
}
