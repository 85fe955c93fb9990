/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uverbs device file, as far as libibverbs uses it behind the provider's back. Used by the
 * preload library and, without one, by the provider's patched call (got.c).
 */
#ifndef UHCA_PRELOAD_UVERBS_H
#define UHCA_PRELOAD_UVERBS_H

#include "hooks.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Is this ioctl one of libibverbs on one of our device files (which are /dev/null,
 * or the file of a context)? Keeps errno. */
bool uhca_uverbs_is_ours(int fd, unsigned long request);

/*
 * Answers it: 0, or -1 with errno. EPROTONOSUPPORT, the kernel's word for a method it does not
 * have, makes libibverbs look into sysfs instead, which is where the daemon has put the answer.
 */
int uhca_uverbs_ioctl(int fd, void *arg, const struct uhca_preload_hooks *hooks);

/*
 * Makes the answer about a context's own file (context_file.h) that about the device file; leaves
 * every other as it is. Keeps errno.
 */
void uhca_uverbs_disguise(int fd, struct stat *st);

#endif
