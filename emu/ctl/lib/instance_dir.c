/* SPDX-License-Identifier: BSD-2-Clause */
/* Composes the paths of instance directories. */
#include "instance_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ctl_instance_dir(const char *name, char *out, size_t cap)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	const char *tmp = getenv("TMPDIR");
	int n;

	if (!*name || strchr(name, '/') || name[0] == '.')
		return -EINVAL;
	if (run && *run && access(run, W_OK | X_OK) == 0)
		n = snprintf(out, cap, "%s/uhca/%s", run, name);
	else
		n = snprintf(out, cap, "%s/uhca-%u/%s", tmp && *tmp ? tmp : "/tmp",
			     (unsigned)geteuid(), name);
	return (size_t)n < cap ? 0 : -ENAMETOOLONG;
}
