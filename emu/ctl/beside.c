/* SPDX-License-Identifier: BSD-2-Clause */
/* See beside.h. */
#include "beside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ctl_look_beside(void)
{
	const char *path = getenv("PATH");
	char self[PATH_MAX], *all;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int result = 0;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	if (asprintf(&all, "%s%s%s", self, path ? ":" : "", path ? path : "") < 0)
		return -ENOMEM;
	if (setenv("PATH", all, 1) < 0)
		result = -errno;
	free(all);
	return result;
}
