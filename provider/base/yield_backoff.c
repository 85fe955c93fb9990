/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See yield_backoff.h. Beside one that computes a sleep is what a yield is beside others
 * (emu/abi/yield_backoff.h).
 */
#include "yield_backoff.h"

#include "clock.h"
#include "emu/abi/yield_backoff.h"
#include "uncancelled.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define LOOKS 8        /* in a row, and for so long: then nothing else is going on */
#define SOME  25000ull /* ns */
#define APART 3000ull  /* ns between two looks: who does something else there does not wait */
/*
 * ns of looks in a row, from where on a sleep is little beside what has passed: then yields have
 * not brought the processor to whom it waits for. A scheduler may give it back to who yields for
 * seconds, while others on its queue starve (Linux 6.18 did, to threads of one autogroup on two
 * processors).
 */
#define VAIN  1000000ull
#define AWAKE 10000ull /* ns behind such a sleep: there may be more than one place to look at */

static __thread struct {
	struct uhca_yield_backoff backoff;
	unsigned looks; /* in a row */
	uint64_t since; /* the first of them */
	uint64_t last;  /* when the last had given the processor away, and had it back */
	uint64_t awake; /* when the last sleep ended */
} way;

/* As short as the kernel makes it: the slack of timers, see prctl(2), is added. */
static void sleep_shortly(void)
{
	static const struct timespec moment = {.tv_nsec = 1};
	int saved = errno, before = uhcav_cancel_off();

	if (nanosleep(&moment, NULL) < 0)
		errno = saved; /* a signal: the caller looks again all the sooner */
	uhcav_cancel_back(before);
}

static void note_look(uint64_t now)
{
	if (way.looks == 0 || now - way.last > APART) {
		way.looks = 0;
		way.since = now;
	}
	way.looks++;
}

static bool is_in_vain(uint64_t now)
{
	return way.looks >= LOOKS && now - way.since >= VAIN && now - way.awake >= AWAKE;
}

static void yield_backoff(uint64_t now, bool sleep)
{
	if (sleep || is_in_vain(now) || uhca_yield_backoff_is_near(&way.backoff, now)) {
		sleep_shortly();
		way.last = way.awake = uhcav_clock_ns(CLOCK_MONOTONIC);
		return;
	}
	sched_yield();
	way.last = uhcav_clock_ns(CLOCK_MONOTONIC);
	uhca_yield_backoff_yielded(&way.backoff, now, way.last);
}

void uhcav_yield_backoff(void)
{
	uint64_t now = uhcav_clock_ns(CLOCK_MONOTONIC);

	note_look(now);
	yield_backoff(now, false);
}

uint64_t uhcav_waits(void)
{
	return way.looks >= LOOKS && way.last - way.since >= SOME ? way.last : 0;
}

void uhcav_yield_backoff_long(void)
{
	uint64_t now = uhcav_clock_ns(CLOCK_MONOTONIC);

	note_look(now);
	yield_backoff(now, way.looks >= LOOKS);
}

void uhcav_waits_no_more(void)
{
	way.looks = 0;
}
