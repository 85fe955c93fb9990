/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of uhca-sim for tests: a command line in, numbers of the report out. */
#ifndef TESTS_SUPPORT_SIMULATOR_CURVE_H
#define TESTS_SUPPORT_SIMULATOR_CURVE_H

#include "tests/support/wire/cmocka_all.h"

#include "emu/sim/run.h"

/* The report of "uhca-sim WORDS", split at blanks; '_' stands for a blank in a word. */
json_t *curve_run(const char *words);

/* The number at a path such as "flows.slowdown.p99". */
double curve_number(json_t *report, const char *path);

/* The same of a run that is needed for one number only. */
double curve_of(const char *words, const char *path);

/* Fails, with both numbers, if the value is not in the range. */
void curve_within(const char *what, double value, double low, double high);

#endif
