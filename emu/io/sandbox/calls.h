/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls that are left to the daemon: a filter, made by libseccomp.
 */
#ifndef IO_CALLS_H
#define IO_CALLS_H

#include <stdbool.h>

/*
 * From now on this process, with all its threads, has these calls only. 0 or -errno: -EINVAL or
 * -ENOSYS where the kernel has no filters, -EPERM where this process may not have one.
 */
int io_calls_keep_few(void);

/* Is it there, if perhaps not with all arguments? What is not there answers ENOSYS. */
bool io_calls_has(int call);

/* Its name, for the caller to free(3). NULL: unknown, or no memory. */
char *io_calls_name(int call);

#endif
