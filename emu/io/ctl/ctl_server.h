/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's end of uhcactl's connection (ctl.h): lines in, lines out, never waiting. A
 * session whose line is too long is told so and closed; one that does not read its replies
 * gets no further ones. Where there are as many as can be, a new one takes the place of the one
 * that said nothing for longest, of the user who has most: silence keeps nobody out.
 */
#ifndef IO_CTL_SERVER_H
#define IO_CTL_SERVER_H

#include "emu/io/local/local.h"

#include <ev.h>

struct io_clients;
struct io_devices;
struct io_faults;
struct io_linger;
struct io_teller;
struct io_ucma;
struct io_ctl_session;

/* What uhcactl may look at and change; all of it stays the daemon's. */
struct io_house {
	const struct io_devices *devices;
	struct io_teller *teller;
	const struct io_clients *clients;
	struct io_faults *faults;
	const struct io_ucma *ucma;
};

struct io_ctl {
	struct io_listener listener;
	struct ev_loop *loop;
	struct io_linger *linger;
	struct io_house house;
	struct io_ctl_session *sessions; /* a list */
	unsigned n_sessions;
};

/* Listens at path; loop, linger and house are set. 0 or -errno as io_listener_open. */
int io_ctl_open(struct io_ctl *ctl, const char *path);

/* Ends all sessions. */
void io_ctl_close(struct io_ctl *ctl);

#endif
