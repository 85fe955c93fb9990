/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --times and --minimise: the command is run under one seed after the other, each time with a
 * fresh daemon, until it fails; then with fewer and fewer of the relaxations of that seed.
 */
#ifndef RUN_HUNT_H
#define RUN_HUNT_H

#include "run_options.h"

/* One run, in a process of its own. */
typedef int run_hunt_run(const struct run_options *options);

/*
 * Says what it found. The exit status of the run that failed, RUN_EXIT_TOO_LONG for one that did
 * not end in time; 0 when all passed; RUN_EXIT_FAILED.
 */
int run_hunt(const struct run_options *options, run_hunt_run *run);

#endif
