/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that poll and the daemon yield the processor between two looks. Beside threads that do
 * so too a yield is the cheapest way to the next look. Beside a thread that computes it is the
 * dearest: the scheduler takes it for consent to a whole slice of that thread, some milliseconds,
 * each time, and prefers a thread that wakes up from a sleep, however short. A yield that took long
 * shows such a thread. A single one may have been the machine's own absence (a guest whose host had
 * other work): so the first keeps from yielding for a moment only, and those that follow each other
 * for longer and longer.
 */
#ifndef UHCA_ABI_YIELD_BACKOFF_H
#define UHCA_ABI_YIELD_BACKOFF_H

#include <stdint.h>

#define UHCA_YIELD_BACKOFF_YIELD 1000000ull  /* ns: a longer yield met one that computes */
#define UHCA_YIELD_BACKOFF_FIRST 2000000ull  /* ns without a yield behind it */
#define UHCA_YIELD_BACKOFF_MOST  50000000ull /* ns, when each yield is so */

struct uhca_yield_backoff {
	uint64_t until; /* CLOCK_MONOTONIC, ns: no yield before it */
	uint64_t time;  /* how long that was or is */
};

/* Is a sleep better than a yield now, ns of CLOCK_MONOTONIC? */
static inline int uhca_yield_backoff_is_near(const struct uhca_yield_backoff *h, uint64_t now)
{
	return now < h->until;
}

/* A yield began and ended at these times. */
static inline void uhca_yield_backoff_yielded(struct uhca_yield_backoff *h, uint64_t began,
					      uint64_t ended)
{
	if (ended - began <= UHCA_YIELD_BACKOFF_YIELD) {
		h->time /= 2;
		return;
	}
	h->time *= 2;
	if (h->time < UHCA_YIELD_BACKOFF_FIRST)
		h->time = UHCA_YIELD_BACKOFF_FIRST;
	if (h->time > UHCA_YIELD_BACKOFF_MOST)
		h->time = UHCA_YIELD_BACKOFF_MOST;
	h->until = ended + h->time;
}

#endif
