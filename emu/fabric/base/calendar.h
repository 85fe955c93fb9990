/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event queue of a network: a calendar queue (R. Brown, CACM 31(10), 1988). Its order is that
 * of fabric_events: by time, then by order of setting. An event costs the same however many there
 * are: times of one bucket's width share a list, and only the bucket of now is sorted.
 */
#ifndef FABRIC_CALENDAR_H
#define FABRIC_CALENDAR_H

#include "events.h"

#include <stddef.h>

/* A slot's event, and its neighbours in the list of its bucket. Time FABRIC_NEVER: not set. */
struct fabric_calendar_slot {
	fabric_event event;
	uint32_t next, prev;
};

struct fabric_calendar_bucket {
	uint32_t first, last;
};

struct fabric_calendar {
	/* Sorted: all events of buckets before "at". */
	fabric_event *now;
	uint32_t begin, end, room;
	/* Lists: events of the n buckets from "at" on. A bucket's number is its time >> shift. */
	struct fabric_calendar_bucket *buckets; /* number modulo n */
	uint64_t *full[2]; /* bits: lists that are not empty; words of these bits that are not 0 */
	uint64_t at;
	uint32_t n;
	unsigned shift;
	struct fabric_events far; /* later ones */
	uint32_t *positions;      /* of these */
	struct fabric_calendar_slot *slots;
	uint64_t order; /* counts up at each set */
	/*
	 * Optional: an event has few others before it, so what it touches may be fetched into the
	 * cache. Row 3 comes first, then 2, then 1.
	 */
	void (*near)(const void *user, uint32_t slot, unsigned row);
	const void *user;
};

/*
 * For n slots, FABRIC_SLOTS_MAX at most. gap: ps between two events, about; span: ps from setting
 * an event to its time, of most events. Both only say what is fast. 0 or -ENOMEM.
 */
int fabric_calendar_init(struct fabric_calendar *c, uint32_t n, uint64_t gap, uint64_t span);
void fabric_calendar_fini(struct fabric_calendar *c);

/*
 * The slot's event is at this time, which is not before that of the last one taken; FABRIC_NEVER
 * takes it off.
 */
void fabric_calendar_set(struct fabric_calendar *c, uint32_t slot, uint64_t time);

static inline bool fabric_calendar_is_set(const struct fabric_calendar *c, uint32_t slot)
{
	return fabric_event_time(c->slots[slot].event) != FABRIC_NEVER;
}

/* The time of the first event; FABRIC_NEVER when there is none. */
uint64_t fabric_calendar_next(const struct fabric_calendar *c);

/* Takes the first event off, if its time is until or earlier: then it is no longer set. */
bool fabric_calendar_take(struct fabric_calendar *c, uint64_t until, fabric_event *e);

#endif
