/* SPDX-License-Identifier: BSD-2-Clause */
/* Chance with a seed: the next number of a stream (splitmix64), whose state the caller keeps. */
#ifndef CORE_CHANCE_H
#define CORE_CHANCE_H

#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From 0 to n - 1; n is not 0. */
static inline uint32_t chance_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(chance_next(state) % n);
}

#endif
