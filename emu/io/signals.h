/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each signal does to the daemon (signal(7); uhcad(8), SIGNALS): some end it in order, SIGHUP
 * opens the log again, those that tell of a fault of the daemon's own (SIGSEGV and the like) and
 * those of job control do what they do to every process, and all others are ignored.
 */
#ifndef IO_SIGNALS_H
#define IO_SIGNALS_H

#include <ev.h>

#define IO_SIGNALS_HEARD 5

struct io_signals {
	struct ev_loop *loop; /* NULL: closed */
	void (*end)(void *user, int signum);
	void *user;
	ev_signal heard[IO_SIGNALS_HEARD];
};

/* Before there is anything to end in order: ignores those that are to be ignored. */
void io_signals_ignore(void);

/* Calls end(user) from the loop for a signal that ends the daemon; loop, end and user are set. */
void io_signals_open(struct io_signals *s);

/* Idempotent. */
void io_signals_close(struct io_signals *s);

#endif
