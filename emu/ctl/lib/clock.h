/* SPDX-License-Identifier: BSD-2-Clause */
/* The monotonic clock. */
#ifndef CTL_CLOCK_H
#define CTL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CTL_SECOND UINT64_C(1000000000)

/* Nanoseconds since some moment before the process began. */
static inline uint64_t ctl_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * CTL_SECOND + (uint64_t)t.tv_nsec;
}

static inline uint64_t ctl_now_ms(void)
{
	return ctl_now() / 1000000;
}

static inline double ctl_seconds_since(uint64_t began)
{
	return (double)(ctl_now() - began) / 1e9;
}

#endif
