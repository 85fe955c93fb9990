/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See give_way.h. Beside one that computes a sleep is what a yield is beside others
 * (emu/abi/hog.h).
 */
#include "give_way.h"

#include "emu/abi/hog.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#define SEC 1000000000ull

static __thread struct uhca_hog hog;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec;
}

/* As short as the kernel makes it: the slack of timers, see prctl(2), is added. */
static void sleep_shortly(void)
{
	static const struct timespec moment = {.tv_nsec = 1};
	int saved = errno;

	if (nanosleep(&moment, NULL) < 0)
		errno = saved; /* a signal: the caller looks again all the sooner */
}

void uhcav_give_way(void)
{
	uint64_t before = now_ns();

	if (uhca_hog_is_near(&hog, before)) {
		sleep_shortly();
		return;
	}
	sched_yield();
	uhca_hog_yielded(&hog, before, now_ns());
}
