/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child of the test in a sandbox of the daemon's, which nobody gets out of.
 */
#ifndef TESTS_SUPPORT_CONFINED_H
#define TESTS_SUPPORT_CONFINED_H

#include <stdbool.h>

struct ev_loop;

/* May processes have filters here? */
bool confined_possible(void);

/*
 * Runs body(arg) in a child that has kept few calls, whose refusals the loop tells in the log file
 * (none: ""). What body returns, 0 to 99; 100 where the child could not be confined, 101 where it
 * died.
 */
int confined_run(const char *log, int (*body)(struct ev_loop *loop, void *arg), void *arg);

#endif
