/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that the filter refuses: each is answered by a handler of SIGSYS, which notes it;
 * the loop tells it, the first of each kind, in the log. One for the process.
 */
#ifndef IO_REFUSED_H
#define IO_REFUSED_H

#include <stdbool.h>

struct ev_loop;

/* Is it known here where the answer of a call goes? Otherwise the filter answers by itself. */
bool io_refused_can_report(void);

/* From now on they are answered, and told by the loop. 0 or -errno. */
int io_refused_watch(struct ev_loop *loop);

/* Tells what is left to be told, and ends the watch: before the loop does. Nothing without one. */
void io_refused_end(struct ev_loop *loop);

#endif
