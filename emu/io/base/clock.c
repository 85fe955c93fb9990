/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time for the shell. Nothing else in the tree reads a clock; the core gets time as an argument.
 */
#include "clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * IO_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t io_clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t io_clock_about(void)
{
	return read_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t io_clock_thread(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t io_clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
