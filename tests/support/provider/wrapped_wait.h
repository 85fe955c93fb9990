/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A clock that is the test's, and what a thread does that waits: for tests that are linked with
 * "wraps = clock_gettime nanosleep sched_yield".
 */
#ifndef TESTS_SUPPORT_WRAPPED_WAIT_H
#define TESTS_SUPPORT_WRAPPED_WAIT_H

#include <stdint.h>

#define USEC 1000ull
#define MSEC 1000000ull

struct wrapped_wait {
	uint64_t now; /* ns */
	uint64_t yield_takes, sleep_takes;
	unsigned yields, sleeps; /* so far */
};

/* A second has passed; a yield takes 1 us, a sleep 57 us. */
extern struct wrapped_wait wrapped;

#endif
