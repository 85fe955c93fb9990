// SPDX-License-Identifier: BSD-2-Clause
// A gettimeofday(2) that runs twenty times too fast, to be preloaded into programs of perftest.
// Each of them compares the processor's clock with this one before it prints a line of its table,
// and does nothing else for 0.2 s; of a whole check that was a tenth. The bandwidth that it prints
// comes out too small. By what it measures otherwise, and how it uses the device, nothing changes.
#include <sys/time.h>
#include <time.h>

#define FASTER 20
#define SEC    1000000000ll

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec now;
	long long us;

	(void)tz;
	clock_gettime(CLOCK_MONOTONIC, &now);
	us = (now.tv_sec * SEC + now.tv_nsec) / 1000 * FASTER;
	tv->tv_sec = us / 1000000;
	tv->tv_usec = us % 1000000;
	return 0;
}
