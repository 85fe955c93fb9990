/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlines in one binary heap. A timer is embedded in its owner; setting it again moves it.
 * Nothing scans all QPs (DESIGN section 4).
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
};

void timer_heap_construct(struct timer_heap *h);
void timer_heap_destruct(struct timer_heap *h);

/* Makes room for n timers in all, so that timer_set cannot fail later. 0 or -ENOMEM. */
int timer_heap_reserve(struct timer_heap *h, uint32_t n);

static inline bool timer_is_set(const struct timer *t)
{
	return t->position != 0;
}

void timer_set(struct timer_heap *h, struct timer *t, uint64_t deadline);
void timer_cancel(struct timer_heap *h, struct timer *t);

/* UINT64_MAX when nothing is set. */
uint64_t timer_heap_next(const struct timer_heap *h);

/* Takes each timer due at now off the heap and calls its fire, which may set it again. */
void timer_heap_run(struct timer_heap *h, uint64_t now);

#endif
