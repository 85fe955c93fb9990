/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers of a run, all from one seed, in integers: the same on every machine and with every
 * compiler. Logarithms are computed here for the same reason.
 */
#ifndef FABRIC_RANDOM_H
#define FABRIC_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* Scatters the bits of a number (splitmix64's finaliser). */
static inline uint64_t fabric_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The next number of a stream, whose state the caller keeps. */
static inline uint64_t fabric_random(uint64_t *state)
{
	return fabric_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* From 0 to n - 1; n is not 0. */
static inline uint32_t fabric_random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((fabric_random(state) >> 32) * n) >> 32);
}

/* True with the probability ratio / 2^32; 2^32 and more: always. */
static inline bool fabric_random_chance(uint64_t *state, uint64_t ratio)
{
	return (fabric_random(state) >> 32) < ratio;
}

/* -ln(x / 2^32) in 2^-32; x from 1 to 2^32. */
uint64_t fabric_minus_log(uint64_t x);

/* A time between two arrivals that are independent: exponential, of this mean. */
uint64_t fabric_random_gap(uint64_t *state, uint64_t mean);

#endif
