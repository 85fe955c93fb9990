/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See give_way.h. Beside programs that poll and yield as we do, a yield is the cheapest way to the
 * next look. Beside one that computes it is the dearest: the scheduler takes a yield for consent to
 * a whole slice of the other, some milliseconds, each time, and prefers who wakes up from a sleep,
 * however short (as the daemon does it: emu/io/loop.c).
 */
#include "give_way.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#define MSEC      1000000ull
#define SEC       1000000000ull
#define HOG_YIELD (1 * MSEC)  /* a yield that took this long met one who computes */
#define HOG_TIME  (50 * MSEC) /* sleeps instead of yields for this long then */

static __thread uint64_t hog_until;

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
	uint64_t before = now_ns(), after;

	if (before < hog_until) {
		sleep_shortly();
		return;
	}
	sched_yield();
	after = now_ns();
	if (after - before > HOG_YIELD)
		hog_until = after + HOG_TIME;
}
