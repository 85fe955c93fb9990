/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of clocks as one number. */
#ifndef UHCAV_CLOCK_H
#define UHCAV_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of clock_gettime(2). */
static inline uint64_t uhcav_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Since some time in the past; it never goes back. */
static inline uint64_t uhcav_now_ms(void)
{
	return uhcav_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

#endif
