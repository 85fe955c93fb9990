/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that uhca-run runs: started, sent the signals meant for it, waited for. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

/*
 * To be called before any other process is started: from here on signals wait for
 * run_command_run, so that none ends uhca-run before it has cleaned up.
 */
void run_command_hold_signals(void);

/*
 * Runs the command (argv, found by PATH) in the process group of uhca-run and returns the exit
 * status for uhca-run: the command's, 128+N when signal N ended it, 126 or 127 when it did not
 * run. A command whose uhca-run is killed is killed too.
 */
int run_command_run(char **argv);

#endif
