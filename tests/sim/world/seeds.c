/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads SIM_SEED, SIM_SEEDS and SIM_FIRST. */
#include "seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t number(const char *name, uint64_t fallback)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : fallback;
}

uint64_t seeds_one(uint64_t fallback)
{
	return number("SIM_SEED", fallback ? fallback : 1);
}

void seeds_each(const char *what, unsigned count, void (*run)(uint64_t seed))
{
	uint64_t first = number("SIM_FIRST", 1), n = number("SIM_SEEDS", count);
	const char *one = getenv("SIM_SEED");

	if (one && *one) {
		first = seeds_one(1);
		n = 1;
	}
	printf("%s: seeds %" PRIu64 " to %" PRIu64 "\n", what, first, first + n - 1);
	fflush(stdout);
	for (uint64_t i = 0; i < n; i++)
		run(first + i);
}
