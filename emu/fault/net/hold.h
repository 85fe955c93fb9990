/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that wait: for a time, for others to overtake them, or for a person. Each is a copy with
 * its payload. How much memory they take is bounded, and how many a person has to look through.
 */
#ifndef FAULT_HOLD_H
#define FAULT_HOLD_H

#include "emu/core/core.h"
#include "emu/fault/rule/rules.h"

#define FAULT_HOLD_STEPPED 4096u        /* packets that wait for a person */
#define FAULT_HOLD_BYTES   (256u << 20) /* of memory, for all that wait */

struct fault_held {
	struct fault_held *prev, *next; /* in stepped or reordered */
	unsigned slot;                  /* in timed */
	uint32_t number;                /* for life */
	uint64_t order;                 /* of those that are due at one time */
	enum fault_direction dir;
	uint64_t since;
	uint64_t due;
	uint64_t overtakers; /* that are still to come; 0: it waits for the time alone */
	bool made;           /* no device sent it */
	struct core_burst burst;
	uint8_t payload[];
};

struct fault_queue {
	struct fault_held *first, *last;
};

struct fault_hold {
	struct fault_held **timed; /* a heap: by due, then by order */
	unsigned n_timed, room;
	struct fault_queue reordered; /* of timed, those with overtakers, by number */
	struct fault_queue stepped;   /* by number: they wait for a person */
	unsigned n_stepped;
	size_t bytes; /* of memory */
	uint32_t last_number;
	uint64_t last_order;
};

/* A burst of one packet to be kept; what it points to is copied. */
struct fault_to_hold {
	const struct core_burst *burst;
	enum fault_direction dir;
	uint64_t since, due, overtakers;
	bool made;
};

/* Until it is due, or overtaken. False: there is no room, or no memory. */
bool fault_hold_time(struct fault_hold *h, const struct fault_to_hold *what);
/* Until a person says so. */
bool fault_hold_step(struct fault_hold *h, const struct fault_to_hold *what);

static inline bool fault_hold_empty(const struct fault_hold *h)
{
	return h->n_timed == 0 && h->n_stepped == 0;
}

/* Takes out the first that is due; NULL: none. The caller frees it. */
struct fault_held *fault_hold_due(struct fault_hold *h, uint64_t now);
uint64_t fault_hold_deadline(const struct fault_hold *h);

/*
 * A packet of this flow went by: each that waits for company of this flow has one less to wait
 * for. Takes out one that waits for none any more; NULL: there is none (again).
 */
void fault_hold_overtake(struct fault_hold *h, enum fault_direction dir,
			 const struct core_burst *by);
struct fault_held *fault_hold_overtaken(struct fault_hold *h);

/* Of those that wait for a person: NULL when there is none with the number. */
struct fault_held *fault_hold_find(const struct fault_hold *h, uint32_t number);
struct fault_held *fault_hold_take_step(struct fault_hold *h, struct fault_held *e);

void fault_hold_clear(struct fault_hold *h); /* frees them all */

#endif
