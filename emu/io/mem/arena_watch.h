/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of a memory file is charged to the process that touches it first (cgroups(7)). A program
 * brings all pages of the arena that it registers, and keeps them. One that does not, or takes them
 * away, would let the device bring them: at the cost of the daemon, which the kernel would end
 * where its cgroup has a limit.
 *
 * So the windows of arenas are watched (userfaultfd(2) with UFFD_FEATURE_SIGBUS): a touch of a page
 * that the file does not have raises SIGBUS, and costs nothing where all are there. The device then
 * gets other memory in place of the rest of the window, up to 2 MiB at once, goes on, and the
 * client is ended when the pass is over (io_arena_watch_lost).
 */
#ifndef IO_ARENA_WATCH_H
#define IO_ARENA_WATCH_H

#include "arena.h"

#include <stdbool.h>
#include <sys/types.h>

/* Before the sandbox. False, and in the log: the system does not grant it; nothing is watched. */
bool io_arena_watch_open(void);
void io_arena_watch_close(void);

/*
 * May this process have memory of its own mapped here? Where nothing is watched, if it is in our
 * cgroup, and pays with us for all that it has.
 */
bool io_arena_watch_allows(pid_t pid);

/* [base, base + size) is a window. 0 or -errno. */
int io_arena_watch_add(void *base, uint64_t size);

/*
 * A call of the system failed with EFAULT for these: was it for want of pages of an arena? Then
 * memory is in their place now, and it may be tried again.
 */
bool io_arena_watch_mend(const struct iovec *local, unsigned n);

/* How many arenas have lost pages so far. */
unsigned io_arena_watch_lost(void);

/* Of arena.c: the arena whose window has this address, and the end of the window; NULL: none. */
struct io_arena *io_arena_of(const void *address, uint8_t **end);

#endif
