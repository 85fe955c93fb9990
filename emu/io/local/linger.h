/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is here: clients of all kinds come and go, and when nobody has been here for some time,
 * somebody is told.
 */
#ifndef IO_LINGER_H
#define IO_LINGER_H

#include <ev.h>

struct io_linger {
	struct ev_loop *loop;
	unsigned seconds; /* 0: for ever */
	unsigned present;
	ev_timer timer; /* runs while nobody is here */
	void (*over)(struct io_linger *l);
};

/* Nobody is here, and the time does not run yet; see io_linger_start. */
void io_linger_init(struct io_linger *l, struct ev_loop *loop, unsigned seconds,
		    void (*over)(struct io_linger *l));

/* From now on it runs whenever nobody is here. */
void io_linger_start(struct io_linger *l);

/* Somebody has come, or gone. */
void io_linger_come(struct io_linger *l);
void io_linger_go(struct io_linger *l);

void io_linger_stop(struct io_linger *l);

#endif
