/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of sandbox: a daemon that has opened what it needs lays down what it does not
 * need any more, capabilities (rights.h) and system calls (calls.h), so that who takes it over by a
 * fault of ours has less than its user. There is one for the process, and no way back. Called by
 * the daemon.
 */
#ifndef IO_SANDBOX_H
#define IO_SANDBOX_H

#include <stdbool.h>

struct ev_loop;

/*
 * Goes into it, if it is wanted and can be had, with all threads; says in the log what came of it.
 * What is refused is told by the loop until io_sandbox_leave. Nothing fails: without it the daemon
 * serves as well.
 */
void io_sandbox_enter(struct ev_loop *loop, bool wanted);

/* Before the loop ends. The process stays where it is. */
void io_sandbox_leave(struct ev_loop *loop);

/* "on", or "off" and why. */
const char *io_sandbox_state(void);

#endif
