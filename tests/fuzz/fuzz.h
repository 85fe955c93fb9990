/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a fuzz target is: one function over one input. The same source is linked with libFuzzer
 * (configure --enable-fuzzers, clang) or with replay_main.c, which replays the target's corpus and
 * some mutations of it (every make check).
 *
 * To add a target: write tests/fuzz/fuzz_NAME.c, put a few inputs in tests/fuzz/corpus/NAME/, and
 * copy the three lines of another target in tests/fuzz.inc.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Runs the code under test on the size bytes at data (a heap block of exactly that size, so that
 * the sanitizers and valgrind see a read beyond it). Returns 0. Aborts when the code is wrong.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * How many mutations are run where FUZZ_RUNS does not say, for a target that takes long over each:
 * it defines this. 20000 for others.
 */
extern const unsigned long fuzz_runs __attribute__((weak));

/* What must hold for every input. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
