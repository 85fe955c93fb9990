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

#define TRIES 20
#define SOON  (10 * IO_USEC) /* between two readings of a clock that nothing came between */

uint64_t io_clock_wall_of_zero_by(uint64_t (*read)(clockid_t id))
{
	uint64_t best = UINT64_MAX, zero = 0;

	for (unsigned i = 0; i < TRIES && best > SOON; i++) {
		const uint64_t before = read(CLOCK_MONOTONIC);
		const uint64_t wall = read(CLOCK_REALTIME);
		const uint64_t took = read(CLOCK_MONOTONIC) - before;

		if (took >= best)
			continue;
		best = took;
		zero = wall - before - took / 2;
	}
	return zero;
}

uint64_t io_clock_wall_of_zero(void)
{
	return io_clock_wall_of_zero_by(read_clock);
}
