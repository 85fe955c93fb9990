/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where instances live: $XDG_RUNTIME_DIR/uhca/NAME, or ${TMPDIR:-/tmp}/uhca-UID/NAME where there
 * is no usable XDG_RUNTIME_DIR. Only the user who owns an instance may enter it (mode 0700).
 */
#ifndef RUN_DIR_H
#define RUN_DIR_H

/*
 * Longest directory of an instance: a socket's address (unix(7)) and libibverbs' sysfs path must
 * have room behind it.
 */
#define RUN_DIR_MAX 90

#define RUN_DIR_LIFE "life" /* in a directory that is made for one command */

struct run_dir {
	char path[RUN_DIR_MAX + 1];
};

/* Finds or makes the directory of the shared instance; 0, or -errno with the error printed. */
int run_dir_shared(const char *name, struct run_dir *out);

/*
 * The folder in which private instances of this user are made: $XDG_RUNTIME_DIR, $TMPDIR, /dev/shm
 * where it is a tmpfs with room, /tmp.
 */
const char *run_dir_root(void);

/*
 * Makes a fresh directory for a private instance, which run_dir_mark says is in use; 0, or -errno
 * with the error printed. Directories of this user that are in use no more are removed before.
 */
int run_dir_private(struct run_dir *out);

/*
 * What errno says of a file or folder for temporary things goes to standard error, with what helps
 * where it is the folder's fault. -errno.
 */
int run_dir_complain(const char *what);

/*
 * Says by a locked file (RUN_DIR_LIFE) in the directory that it is in use, while this process lives
 * and those that it forks: whoever finds it unlocked later may remove the directory. The
 * descriptor, or -errno.
 */
int run_dir_mark(const char *path);

/* Removes a directory and all that is in it; what cannot be removed stays. */
void run_dir_remove(const char *path);

/* Length of the instance's log now, in bytes; 0 where there is none. */
long run_dir_log_size(const struct run_dir *dir);

/* Copies the last lines of the log behind offset "from" to standard error, with a margin. */
void run_dir_print_log(const struct run_dir *dir, long from);

/*
 * To standard error what the daemon has warned of behind offset "from", the last lines of it: for
 * who asks why a command has failed. Nothing where it has not.
 */
void run_dir_print_warnings(const struct run_dir *dir, long from);

#endif
