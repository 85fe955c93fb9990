/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlines of the daemon's devices and of its fault rules. Before a device takes something for
 * lost, what has come for any device of the daemon is taken out of its sockets, however the looks
 * of the loop fell: a daemon that is behind finds the answer and the end of its time together.
 */
#ifndef IO_DEADLINES_H
#define IO_DEADLINES_H

#include <stdbool.h>
#include <stdint.h>

struct io_daemon;

/* Runs what is due at now (io_clock_now). True when there was something. */
bool io_deadlines_run(struct io_daemon *d, uint64_t now);

/* The first one; UINT64_MAX: none. */
uint64_t io_deadlines_next(const struct io_daemon *d);

#endif
