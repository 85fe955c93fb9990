/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is here: clients of all kinds come and go, and when nobody has been here for some time,
 * somebody is told.
 */
#ifndef IO_IDLE_TIMEOUT_H
#define IO_IDLE_TIMEOUT_H

#include <ev.h>

struct io_idle_timeout {
	struct ev_loop *loop;
	unsigned seconds; /* 0: for ever */
	unsigned present;
	ev_timer timer; /* runs while nobody is here */
	void (*over)(struct io_idle_timeout *l);
};

/* Nobody is here, and the time does not run yet; see io_idle_timeout_start. */
void io_idle_timeout_init(struct io_idle_timeout *l, struct ev_loop *loop, unsigned seconds,
			  void (*over)(struct io_idle_timeout *l));

/* From now on it runs whenever nobody is here. */
void io_idle_timeout_start(struct io_idle_timeout *l);

/* Somebody has come, or gone. */
void io_idle_timeout_come(struct io_idle_timeout *l);
void io_idle_timeout_go(struct io_idle_timeout *l);

void io_idle_timeout_stop(struct io_idle_timeout *l);

#endif
