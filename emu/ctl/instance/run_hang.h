/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command that takes too long: what each of its threads waits for, as the kernel tells it
 * (proc(5)), with its stack, and what each queue pair waits for, as the daemon does; and its end.
 */
#ifndef RUN_HANG_H
#define RUN_HANG_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Tells it on standard error, of the process "root" (unless it is a reaper, run_reaper.h) and all
 * that it has started. dir: of the instance; a daemon that does not answer within some seconds is
 * told as such.
 */
void run_hang_print(pid_t root, bool is_reaper, const char *dir);

/* Waits so long for the end of a child, which is not collected. */
bool run_hang_ends_within(pid_t pid, int ms);

/* Sends the signal to all that this process has started, and not to itself. */
void run_hang_kill_children(int number);

/*
 * Ends them: SIGTERM, and SIGKILL for those that are there some seconds later. root is not
 * collected, and has ended then.
 */
void run_hang_end(pid_t root);

#endif
