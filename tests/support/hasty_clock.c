// SPDX-License-Identifier: BSD-2-Clause
// To be preloaded into programs of perftest, which spend most of their time on two things before
// they print a line of their table:
//
// Each compares the processor's clock with gettimeofday(2) for 0.2 s; this one runs about 20 times
// too fast. The bandwidth that is printed comes out too small. By what they measure otherwise, and
// how they use the device, nothing changes.
//
// Where the processor's clock can be read, this is it, so that both always agree: of two that are
// looked at one after the other perftest learns nothing when it loses the processor in between.
//
// Each fills its buffers with bytes of rand(3), for which glibc takes a lock each time. Nothing
// looks at these bytes.
#include <stdint.h>
#include <stdlib.h>
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

PUBLIC int rand(void)
{
	static uint32_t state = 1;

	state = state * 1103515245 + 12345;
	return (int)(state >> 1);
}
