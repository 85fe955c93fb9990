/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seeded random numbers for tests: xorshift64* over a state that splitmix64 spreads, so that
 * neighbouring seeds give unrelated streams. Not for anything that must be unpredictable.
 */
#ifndef SUPPORT_RNG_H
#define SUPPORT_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rng {
	uint64_t state;
};

static inline void rng_seed(struct rng *r, uint64_t seed)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	r->state = z ? z : 1;
}

static inline uint64_t rng_next(struct rng *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

/* A number in [0, n), n > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* A number in [low, high]. */
static inline uint32_t rng_range(struct rng *r, uint32_t low, uint32_t high)
{
	return low + rng_below(r, high - low + 1);
}

/* True with a probability of ppm parts per million. */
static inline bool rng_chance(struct rng *r, uint32_t ppm)
{
	return ppm && rng_below(r, 1000000) < ppm;
}

static inline void rng_fill(struct rng *r, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		uint64_t v = rng_next(r);
		size_t n = len < sizeof v ? len : sizeof v;

		memcpy(p, &v, n);
		p += n;
		len -= n;
	}
}

#endif
