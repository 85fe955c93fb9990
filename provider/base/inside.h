/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is in a call on an object, for the sanitizer: calls that have begun and not ended, and who
 * has begun the last of them. Two threads may enter at once; what is said of the last one may then
 * be the other's. Any thread, no lock.
 */
#ifndef UHCAV_INSIDE_H
#define UHCAV_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct uhcav_stack;

/* Atomic, all of it. */
struct uhcav_inside {
	uint32_t calls;
	pthread_t thread;
	uintptr_t pc;                    /* the return address of the call */
	const struct uhcav_stack *stack; /* NULL: it was not taken */

	/* Of the thread domain that it is in, or NULL; set when the object is made. */
	struct uhcav_inside *domain;
};

/* Is somebody in there, and not this thread alone? */
static inline bool uhcav_inside_others(const struct uhcav_inside *i)
{
	return __atomic_load_n(&i->calls, __ATOMIC_ACQUIRE) &&
	       !pthread_equal(__atomic_load_n(&i->thread, __ATOMIC_RELAXED), pthread_self());
}

static inline void uhcav_inside_enter(struct uhcav_inside *i, uintptr_t pc,
				      const struct uhcav_stack *stack)
{
	__atomic_store_n(&i->thread, pthread_self(), __ATOMIC_RELAXED);
	__atomic_store_n(&i->pc, pc, __ATOMIC_RELAXED);
	__atomic_store_n(&i->stack, stack, __ATOMIC_RELAXED);
	__atomic_fetch_add(&i->calls, 1, __ATOMIC_ACQ_REL);
	if (i->domain)
		uhcav_inside_enter(i->domain, pc, stack);
}

/* Some end a poll that has not begun, because nothing was there: that leaves nothing. */
static inline void uhcav_inside_leave(struct uhcav_inside *i)
{
	if (!__atomic_load_n(&i->calls, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_sub(&i->calls, 1, __ATOMIC_ACQ_REL);
	if (i->domain)
		uhcav_inside_leave(i->domain);
}

#endif
