/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening a file that a user names, to be written: captures, reports, pictures, traces, logs. In a
 * folder that others can write as well, a name may lead elsewhere than its user meant. Nothing but
 * the file of that name is touched, and only if it is one's own.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

enum output_how {
	OUTPUT_APPEND = 1,  /* what is there stays */
	OUTPUT_REGULAR = 2, /* a regular file, and no wait for the reader of a FIFO */
	OUTPUT_PRIVATE = 4, /* mode 0600 if it is made; else 0666 and the umask */
};

/*
 * Opens the file for writing, close-on-exec; makes it, or empties a regular one that is there.
 * /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors that they name, but not with
 * OUTPUT_REGULAR. how: of enum output_how. The descriptor, or -errno: ELOOP (a symbolic link),
 * EPERM (another user's, or one that has other names, too), EINVAL (none that is regular), or that
 * of open(2), ftruncate(2) and dup(2). What is refused is as it was.
 */
int output_open(const char *path, unsigned how);

/* What that error means, in words; error: as output_open returns it. */
const char *output_error(int error);

#endif
