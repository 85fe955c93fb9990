/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's end of uhcactl's connection (ctl.h): lines in, lines out, never waiting. A session
 * with too long a line gets an error and is closed. A session that does not read its replies gets
 * no further ones. A reply that needs files comes later (ctl_file_request.h), and the next request
 * waits for it. At the most sessions, a new one replaces the one that is idle for longest, of the
 * user with most sessions: idle sessions lock no user out.
 */
#ifndef IO_CTL_SERVER_H
#define IO_CTL_SERVER_H

#include "ctl_show.h"
#include "emu/io/local/local.h"

struct io_clients;
struct io_devices;
struct io_faults;
struct io_idle_timeout;
struct io_network;
struct io_tasks;
struct io_tracer;
struct io_ucma;
struct io_ctl_session;

/* What uhcactl may look at and change; all of it stays the daemon's. */
struct io_services {
	const struct io_devices *devices;
	struct io_tracer *tracer;
	const struct io_clients *clients;
	struct io_faults *faults;
	const struct io_ucma *ucma;
	struct io_network *network; /* NULL: none is modelled */
	struct io_tasks *tasks;     /* for what is done with files; NULL: at once */
	struct ev_loop *loop;       /* of the tasks */
	struct io_ctl_shows *shows;
};

struct io_ctl {
	struct io_listener listener;
	struct ev_loop *loop;
	struct io_idle_timeout *idle_timeout;
	struct io_services services;
	struct io_ctl_shows shows;
	LIST_HEAD(, io_ctl_session) sessions; /* who was heard last stands first */
	unsigned n_sessions;
};

/* Listens at path; loop, idle_timeout and services are set. 0 or -errno as io_listener_open. */
int io_ctl_open(struct io_ctl *ctl, const char *path);

/* Ends all sessions. */
void io_ctl_close(struct io_ctl *ctl);

#endif
