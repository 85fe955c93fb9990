/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that uhca-run runs: started, sent the signals meant for it, waited for. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include "run_options.h"

#include <stdbool.h>

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
 * the instance in dir waited for is told: RUN_EXIT_TOO_LONG. With the sanitizer the same is told
 * before a signal that ends it (SIGTERM of timeout(1)) goes on to the command.
 */
int run_command_run(const struct run_options *options, const char *dir);

/* Has somebody sent a signal to both (Ctrl-C, timeout(1)), by which the command has ended? */
bool run_command_was_interrupted(void);

#endif
