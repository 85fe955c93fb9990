/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sweep: one good run of the command counts what can fail, then each of it fails once, in a run
 * of its own. --sweep-repeat: one of these runs again, with all that explains it.
 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "run_hunt.h"

/*
 * Prints the report. 0: no finding, or only known ones; RUN_EXIT_FOUND; RUN_EXIT_UNFIT: the command
 * fails without a fault, or makes no use of the device; RUN_EXIT_FAILED; 128 + N when signal N has
 * interrupted it.
 */
int run_sweep(const struct run_options *options, run_hunt_run *run);

/* The exit status of the run. */
int run_sweep_repeat(const struct run_options *options, run_hunt_run *run);

#endif
