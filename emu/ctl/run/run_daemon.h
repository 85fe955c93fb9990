/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting uhcad for an instance and waiting until it serves. Its errors go to the instance's
 * log; when it does not come up, the end of that is shown.
 */
#ifndef RUN_DAEMON_H
#define RUN_DAEMON_H

#include "emu/ctl/instance/instance.h"
#include "run_options.h"

#include <stdbool.h>
#include <sys/types.h>

struct run_daemon {
	const struct run_dir *dir;
	const struct run_options *options;
	const char *idle_timeout; /* seconds after the last client; NULL: stay until told */
	int alive_fd;             /* handed to the daemon to hold while it lives, or -1 */
	bool die_with_parent; /* the daemon gets SIGTERM when the process that started it ends */
	pid_t pid;            /* out */
	int status;           /* out: waitpid's, of one that did not start */
	long log_from;        /* out: where this daemon's lines begin in the log */
};

/*
 * Starts the daemon and waits until it is ready. 0, or -errno: the daemon is gone and the reason
 * was printed.
 */
int run_daemon_start(struct run_daemon *daemon);

/* Ends it: SIGTERM, some seconds later SIGKILL; collects it. Returns waitpid's status. */
int run_daemon_stop(pid_t pid);

/*
 * A connection to the daemon of the instance directory, which the caller closes. -ENOENT or
 * -ECONNREFUSED: no daemon listens there; or -errno of socket(2) and connect(2).
 */
int run_daemon_connect(const char *dir);

#endif
