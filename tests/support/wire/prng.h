/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo-random numbers for tests: splitmix64, one word of state, the same on every machine. A
 * test takes its seed from prng_start, which prints it; UHCA_SEED=<number> repeats a run.
 */
#ifndef TESTS_SUPPORT_PRNG_H
#define TESTS_SUPPORT_PRNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prng {
	uint64_t state;
};

/* A generator seeded from UHCA_SEED or, without it, from the clock; prints the seed with who. */
struct prng prng_start(const char *who);

uint64_t prng_u64(struct prng *r);

static inline uint32_t prng_u32(struct prng *r)
{
	return (uint32_t)(prng_u64(r) >> 32);
}

/* A number of so many low bits, 1..64. */
static inline uint64_t prng_bits(struct prng *r, unsigned bits)
{
	return prng_u64(r) >> (64 - bits);
}

/* A number in [0, n); n is not 0. */
static inline uint32_t prng_below(struct prng *r, uint32_t n)
{
	return (uint32_t)(prng_u64(r) % n);
}

/* A number in [low, high]. */
static inline uint32_t prng_range(struct prng *r, uint32_t low, uint32_t high)
{
	return low + prng_below(r, high - low + 1);
}

/* True with a probability of ppm parts per million. */
static inline bool prng_chance(struct prng *r, uint32_t ppm)
{
	return ppm && prng_below(r, 1000000) < ppm;
}

void prng_fill(struct prng *r, void *buf, size_t len);

#endif
