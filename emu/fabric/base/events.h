/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event queue: a heap of four children a node over numbered slots. A slot has at most one time;
 * setting it again moves it. Of events of one time the one that was set first comes first, so that
 * no address and no build decides an order. Times are picoseconds.
 */
#ifndef FABRIC_EVENTS_H
#define FABRIC_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define FABRIC_NEVER UINT64_MAX

struct fabric_event {
	uint64_t time;
	uint32_t order; /* counts up at each set, and wraps: compared by its difference */
	uint32_t slot;
};

struct fabric_events {
	struct fabric_event *heap;
	uint32_t *position; /* of each slot: 1 + index in the heap; 0: not set */
	uint32_t used;
	uint32_t size;
	uint32_t order;
};

/*
 * Room for n events at once. positions: an array of zeros that the caller owns, one for each slot
 * number that is used; queues that never share a slot may share it. 0 or -ENOMEM.
 */
int fabric_events_init(struct fabric_events *q, uint32_t n, uint32_t *positions);
void fabric_events_fini(struct fabric_events *q);

/* Room for n events in all. 0 or -ENOMEM, and nothing has changed. */
int fabric_events_reserve(struct fabric_events *q, uint32_t n);

/* The slot's event is at this time; FABRIC_NEVER takes it off the queue. */
void fabric_events_set(struct fabric_events *q, uint32_t slot, uint64_t time);

static inline bool fabric_events_is_set(const struct fabric_events *q, uint32_t slot)
{
	return q->position[slot] != 0;
}

/* The time of the first event; FABRIC_NEVER when there is none. */
static inline uint64_t fabric_events_next(const struct fabric_events *q)
{
	return q->used ? q->heap[0].time : FABRIC_NEVER;
}

/* The slot of the first event of a queue that is not empty. */
static inline uint32_t fabric_events_first(const struct fabric_events *q)
{
	return q->heap[0].slot;
}

#endif
