// SPDX-License-Identifier: BSD-2-Clause
// A gettimeofday(2) that runs about 20 times too fast, to be preloaded into programs of perftest.
// Each of them compares the processor's clock with this one before it prints a line of its table,
// and does nothing else for 0.2 s; of a whole check that was a tenth. The bandwidth that it prints
// comes out too small. By what it measures otherwise, and how it uses the device, nothing changes.
//
// Where the processor's clock can be read, this is it, so that both always agree: of two that are
// looked at one after the other perftest learns nothing when it loses the processor in between.
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define FASTER 20
#define MHZ    2000 // about

#define PUBLIC __attribute__((visibility("default")))

static uint64_t microseconds(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc() * FASTER / MHZ;
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / 1000 * FASTER;
#endif
}

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	uint64_t us = microseconds();

	(void)tz;
	tv->tv_sec = (time_t)(us / 1000000);
	tv->tv_usec = (suseconds_t)(us % 1000000);
	return 0;
}
