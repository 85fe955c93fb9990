/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving the processor away where there is nothing to do but to look again: a poll that found
 * nothing, a lock that somebody holds.
 */
#ifndef UHCAV_YIELD_BACKOFF_H
#define UHCAV_YIELD_BACKOFF_H

#include <stdint.h>

/*
 * Lets others run and comes back soon: with sched_yield(2), or after a sleep of some 50 us: for a
 * while after a yield that took longer than a millisecond, and every 10 us where looks in a row
 * have been in vain for a millisecond. For threads that look again at once; errno is kept.
 */
void uhcav_yield_backoff(void);

/*
 * The same, by a sleep, for what is known to take much longer than one. Who yields keeps a
 * processor busy all the same, and the scheduler gives it to nobody who could have it to himself. A
 * thread that has done something else since its last look yields.
 */
void uhcav_yield_backoff_long(void);

/*
 * The time (ns of CLOCK_MONOTONIC) of this thread's last look when it has looked again and again
 * for 25 us, and nothing else; otherwise 0.
 */
uint64_t uhcav_waits(void);

/* This thread has something to do: its looks in a row end. */
void uhcav_waits_no_more(void);

#endif
