/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's end of uhcactl's connection (ctl.h): lines in, lines out, never waiting. A
 * session whose line is too long is told so and closed; one that does not read its replies
 * gets no further ones.
 */
#ifndef IO_CTL_SERVER_H
#define IO_CTL_SERVER_H

#include "emu/io/local/listener.h"

#include <ev.h>

struct io_daemon;
struct io_ctl_session;

struct io_ctl {
	struct io_listener listener;
	struct io_daemon *daemon;
	struct io_ctl_session *sessions; /* a list */
	unsigned n_sessions;
};

/* Listens at path. 0 or -errno as io_listener_open. */
int io_ctl_open(struct io_ctl *ctl, struct io_daemon *daemon, const char *path);

/* Ends all sessions. */
void io_ctl_close(struct io_ctl *ctl);

#endif
