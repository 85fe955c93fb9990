/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run --serve: the server of the page beside the command, and as long as a page looks. */
#ifndef RUN_SERVE_H
#define RUN_SERVE_H

#include "run_options.h"

/*
 * Starts it if it was asked for; it has printed its address then. 0, or -errno with the error
 * printed.
 */
int run_serve_start(const struct run_options *options, const char *dir);

/* The command has ended: waits until no page looks any more, or a signal comes. */
void run_serve_finish(void);

#endif
