/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that uhca-run runs: started, sent the signals meant for it, waited for. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include "run_options.h"

/*
 * To be called before any other process is started: from here on signals wait for
 * run_command_run, so that none ends uhca-run before it has cleaned up.
 */
void run_command_hold_signals(void);

/*
 * Runs the command (options->command, found by PATH) in the process group of uhca-run and returns
 * the exit status for uhca-run: the command's, 128+N when signal N ended it, 126 or 127 when it did
 * not run. A command whose uhca-run is killed is killed too. One that takes longer than
 * options->time_limit is ended, with all that it has started, and what they and the queue pairs of
 * the instance in dir waited for is told: RUN_EXIT_TOO_LONG.
 */
int run_command_run(const struct run_options *options, const char *dir);

#endif
