/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command that takes too long: what each of its threads waits for, as the kernel tells it
 * (proc(5)), and what each queue pair waits for, as the daemon does; and its end.
 */
#ifndef RUN_HANG_H
#define RUN_HANG_H

#include <sys/types.h>

/*
 * Tells it on standard error, of the process "root" and all that it has started. dir: of the
 * instance; a daemon that does not answer within some seconds is told as such.
 */
void run_hang_tell(pid_t root, const char *dir);

/*
 * Ends them: SIGTERM, and SIGKILL for those that are there some seconds later. root is not
 * collected, and has ended then.
 */
void run_hang_end(pid_t root);

#endif
