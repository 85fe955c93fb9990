/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run --scenario: an instance of its own for each file, in which its steps are done and
 * judged.
 */
#ifndef RUN_SCENARIO_H
#define RUN_SCENARIO_H

#include "run_options.h"

/*
 * All files, one after the other; then their reports. Exit status: 0 all was as expected, 1 it was
 * not, RUN_EXIT_FAILED one could not be carried out.
 */
int run_scenarios(const struct run_options *options);

#endif
