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

/*
 * Time, order of setting, slot: the smallest number is the first event. It is compared in two
 * instructions and without a branch, which no processor could predict.
 */
typedef unsigned __int128 fabric_event;
#define FABRIC_SLOTS_MAX (UINT32_C(1) << 26) /* the order has the other 38 bits of 64 */

static inline fabric_event fabric_event_make(uint64_t time, uint64_t order, uint32_t slot)
{
	return (fabric_event)time << 64 | (order * FABRIC_SLOTS_MAX | slot);
}

static inline uint64_t fabric_event_time(fabric_event e)
{
	return (uint64_t)(e >> 64);
}

static inline uint32_t fabric_event_slot(fabric_event e)
{
	return (uint32_t)e & (FABRIC_SLOTS_MAX - 1);
}

struct fabric_events {
	fabric_event *heap;
	uint32_t *position; /* of each slot: 1 + index in the heap; 0: not set */
	uint32_t used;
	uint32_t size;
	uint64_t order; /* counts up at each set */
};

/*
 * Room for n events at once; slots are below FABRIC_SLOTS_MAX. positions: an array of zeros that
 * the caller owns, one for each slot number that is used; queues that never share a slot may share
 * it. 0 or -ENOMEM.
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
	return q->used ? fabric_event_time(q->heap[0]) : FABRIC_NEVER;
}

/* The slot of the first event of a queue that is not empty. */
static inline uint32_t fabric_events_first(const struct fabric_events *q)
{
	return fabric_event_slot(q->heap[0]);
}

#endif
