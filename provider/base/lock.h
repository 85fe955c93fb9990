/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of the data path: held for the length of a post or a poll, never across a system call
 * that can sleep. A waiter spins for a moment and then yields, because on a machine with few
 * cores the holder may be the one that waits for a core. An application that says it is
 * single-threaded (UHCA_SINGLE_THREADED=1) gets locks that do nothing.
 */
#ifndef UHCAV_LOCK_H
#define UHCAV_LOCK_H

#include "yield_backoff.h"

#include <stdbool.h>
#include <stdint.h>

#define UHCAV_LOCK_SPINS 64u

struct uhcav_lock {
	uint32_t held;
	uint32_t off;
};

static inline void uhcav_lock_init(struct uhcav_lock *l, bool single_threaded)
{
	l->held = 0;
	l->off = single_threaded;
}

static inline void uhcav_lock(struct uhcav_lock *l)
{
	unsigned spins = 0;

	if (l->off)
		return;
	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED)) {
			if (++spins % UHCAV_LOCK_SPINS == 0)
				uhcav_yield_backoff();
		}
	}
}

/* False: another thread has it. */
static inline bool uhcav_try_lock(struct uhcav_lock *l)
{
	return l->off || !__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE);
}

static inline void uhcav_unlock(struct uhcav_lock *l)
{
	if (!l->off)
		__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif
