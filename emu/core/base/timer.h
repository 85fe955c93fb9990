/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlines in one binary heap. A timer is embedded in its owner; setting it again moves it.
 * Nothing scans all QPs.
 *
 * The clock of a heap can stand still: then nothing is due, and afterwards everything is due so
 * much later. It can be slower than the caller's, too. Deadlines are in the time of that clock
 * (timer_heap_time), "now" is the caller's.
 */
#ifndef CORE_TIMER_H
#define CORE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct timer {
	uint64_t deadline;
	uint32_t position; /* 1 + index in the heap; 0: not set */
	void (*fire)(struct timer *t, uint64_t now);
};

struct timer_heap {
	struct timer **heap;
	uint32_t used;
	uint32_t size;
	bool stands;
	uint32_t slow; /* so many times slower than the caller's time does its clock go */
	uint64_t time; /* what its clock showed ... */
	uint64_t at;   /* ... at this time of the caller, and shows as long as it stands */
};

void timer_heap_construct(struct timer_heap *h);
void timer_heap_destruct(struct timer_heap *h);

/* Makes room for n timers in all, so that timer_set cannot fail later. 0 or -ENOMEM. */
int timer_heap_reserve(struct timer_heap *h, uint32_t n);

static inline bool timer_is_set(const struct timer *t)
{
	return t->position != 0;
}

/* Stops the clock, or lets it go on; again: nothing happens. now must not go back. */
void timer_heap_stand(struct timer_heap *h, bool on, uint64_t now);

/* So much of the time that has passed since the clock was last looked at does not count. */
void timer_heap_skip(struct timer_heap *h, uint64_t time);

/*
 * Since the last call the clock has gone on by so much, whatever passed for the caller. It counts
 * from 0, and so does the caller's time before the first call. One that stands does not go on.
 */
void timer_heap_pass(struct timer_heap *h, uint64_t now, uint64_t passed);

static inline uint64_t timer_heap_time(const struct timer_heap *h, uint64_t now)
{
	if (h->stands || now <= h->at)
		return h->time;
	/* Each packet asks, and hardly any clock is slow. */
	return h->time + (h->slow == 1 ? now - h->at : (now - h->at) / h->slow);
}

/*
 * When to look again for what nobody tells: in proportion to how long it has lasted since, a late
 * look costs a quarter of it; min and max (ns) bound the wait.
 */
static inline uint64_t timer_next_look(uint64_t since, uint64_t now, uint64_t min, uint64_t max)
{
	uint64_t wait = (now - since) / 4;

	wait = wait < min ? min : wait;
	return now + (wait < max ? wait : max);
}

/* deadline: of the heap's clock. */
void timer_set(struct timer_heap *h, struct timer *t, uint64_t deadline);
void timer_cancel(struct timer_heap *h, struct timer *t);

/* The caller's time of the first deadline; UINT64_MAX when nothing is set, or the clock stands. */
uint64_t timer_heap_next(const struct timer_heap *h);

/* The timer that is due first, if it is due at now; else NULL. */
struct timer *timer_heap_due(const struct timer_heap *h, uint64_t now);

#define TIMERS_AT_ONCE 16u

/*
 * Takes up to TIMERS_AT_ONCE timers due at now, the oldest first, off the heap and calls fire of
 * each with the same now; it may set the timer again. The others are still due: they may be
 * thousands, whose queues all have something to flush.
 */
void timer_heap_run(struct timer_heap *h, uint64_t now);

#endif
