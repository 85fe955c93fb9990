/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run --scenario: an instance of its own, in which the file's steps are done and judged.
 */
#ifndef RUN_SCENARIO_H
#define RUN_SCENARIO_H

#include "run_options.h"

/* Exit status: 0 all was as expected, 1 it was not, RUN_EXIT_FAILED it could not be done. */
int run_scenario(const struct run_options *options);

#endif
