/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where seeds come from: the environment. SIM_SEED=N runs exactly that seed, SIM_SEEDS=N that many
 * (a nightly-size run), SIM_FIRST=N starts elsewhere.
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include <stdint.h>

/* The seed of a named test: SIM_SEED, else the given one (0: 1). */
uint64_t seeds_one(uint64_t fallback);

/* Prints the range and calls run for each seed of it. */
void seeds_each(const char *what, unsigned count, void (*run)(uint64_t seed));

#endif
