/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime directory of a daemon (mode 0700): sock, ctl, pid, log, sys/, dev/. The pid file
 * is also the lock that keeps two daemons out of one directory; it is held as long as the daemon
 * lives and lost with it, however it ends.
 */
#ifndef IO_INSTANCE_H
#define IO_INSTANCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct io_instance {
	char dir[PATH_MAX]; /* absolute */
	int lock;           /* the pid file */
};

/*
 * The directory of the instance "name" of this user: $XDG_RUNTIME_DIR/uhca/NAME where that can
 * be written to, else ${TMPDIR:-/tmp}/uhca-UID/NAME. 0, -EINVAL (no name, or one with a slash) or
 * -ENAMETOOLONG.
 */
int io_instance_path(const char *name, char *out, size_t cap);

/*
 * Makes the directory (and those above it) where it is missing, takes the lock, writes the pid
 * and removes what a daemon that was killed has left. Says what is wrong in the log. 0 or:
 *   -EBUSY         another daemon runs there
 *   -EPERM         the directory belongs to somebody else, or others may write into it, or rename
 *                  it or one above it (which is not asked with trust_parents)
 *   -ENAMETOOLONG  too long for the name of a Unix socket
 *   -errno         of mkdir(2), open(2)
 */
int io_instance_open(struct io_instance *in, const char *dir, bool trust_parents);

/* Removes everything but the log, the pid file last, and gives up the lock. */
void io_instance_close(struct io_instance *in);

/* "DIR/name" in out (PATH_MAX bytes). Returns out. */
const char *io_instance_file(const struct io_instance *in, const char *name, char *out);

#endif
