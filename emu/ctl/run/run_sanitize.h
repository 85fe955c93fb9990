/* SPDX-License-Identifier: BSD-2-Clause */
/* The sanitizer around a command: its collector, and what the command's environment says of it. */
#ifndef RUN_SANITIZE_H
#define RUN_SANITIZE_H

#include "run_options.h"

/*
 * Starts the collector and sets the environment, if --sanitize was given. 0, or -errno with the
 * error printed.
 */
int run_sanitize_start(const struct run_options *options);

/* The command has ended with a status: what uhca-run is to end with. */
int run_sanitize_finish(int status);

/* Prints all checks, in place of this process. Returns -errno, printed, when it cannot. */
int run_sanitize_help(void);

#endif
