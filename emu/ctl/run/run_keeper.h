/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper of a private instance: a process that starts the daemon, and ends it and removes its
 * directory when uhca-run has ended, however that ended.
 */
#ifndef RUN_KEEPER_H
#define RUN_KEEPER_H

#include "emu/ctl/instance/instance.h"
#include "run_options.h"

#include <stdbool.h>
#include <sys/types.h>

struct run_keeper {
	pid_t pid;
	int life_fd; /* as long as it is open, the instance lives */
};

/*
 * Starts keeper and daemon; the directory belongs to the keeper then. 0 when the daemon is ready,
 * or -errno: the error was printed, the directory is gone.
 */
int run_keeper_start(const struct run_dir *dir, const struct run_options *options,
		     struct run_keeper *out);

/*
 * Ends the instance; returns when daemon and directory are gone, also when the keeper was killed.
 * warns: what the daemon has warned of goes to standard error, once it has written it.
 */
void run_keeper_finish(struct run_keeper *keeper, const struct run_dir *dir, bool warns);

#endif
