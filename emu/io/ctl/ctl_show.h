/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of many rows, made in parts between which all others are served (design D16): the loop
 * gathers the rows, one request in turn with the others, and a thread makes the reply of them.
 */
#ifndef IO_CTL_SHOW_H
#define IO_CTL_SHOW_H

#include <ev.h>
#include <sys/queue.h>

struct ctl_show;

/* Requests whose rows are being gathered. */
struct io_ctl_shows {
	struct ev_loop *loop;
	ev_idle next; /* active while there are some */
	TAILQ_HEAD(, ctl_show) list;
};

void io_ctl_shows_open(struct io_ctl_shows *s, struct ev_loop *loop);

/* Ends those that are there; their sessions have gone before. */
void io_ctl_shows_close(struct io_ctl_shows *s);

#endif
