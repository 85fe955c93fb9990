/* SPDX-License-Identifier: BSD-2-Clause */
/* See beside.h. */
#include "beside.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "provider/.libs/libuhca_preload.so"

/* The folder of this program, without the last slash. */
static int find_folder(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return -errno;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* The variable becomes FOLDER/FILE where that is there and the variable is not. */
static int set_file(const char *variable, const char *folder, const char *file)
{
	char *path;
	int result;

	if (asprintf(&path, "%s/%s", folder, file) < 0)
		return -ENOMEM;
	result = setenv(variable, path, 0) < 0 ? -errno : 0;
	free(path);
	return result;
}

static bool is_build_tree(const char *folder)
{
	char path[PATH_MAX + sizeof(LIBRARY) + 1];

	snprintf(path, sizeof(path), "%s/uhcad", folder);
	if (access(path, X_OK) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/%s", folder, LIBRARY);
	return access(path, R_OK) == 0;
}

/* Is it the first in the list, or (anywhere) one of it? */
static bool is_in(const char *list, const char *folder, bool anywhere)
{
	size_t len = strlen(folder);

	for (const char *at = list; at; at = anywhere ? strchr(at, ':') : NULL) {
		at += *at == ':';
		if (strncmp(at, folder, len) == 0 && (at[len] == ':' || !at[len]))
			return true;
	}
	return false;
}

static int add_to_path(const char *folder, bool in_front)
{
	const char *path = getenv("PATH");
	char *all;
	int result;

	if (!path || !*path)
		return setenv("PATH", folder, 1) < 0 ? -errno : 0;
	if (is_in(path, folder, !in_front))
		return 0;
	if (asprintf(&all, "%s:%s", in_front ? folder : path, in_front ? path : folder) < 0)
		return -ENOMEM;
	result = setenv("PATH", all, 1) < 0 ? -errno : 0;
	free(all);
	return result;
}

int ctl_look_beside(void)
{
	char folder[PATH_MAX];
	int error = find_folder(folder);
	bool built;

	if (error < 0)
		return error;
	built = is_build_tree(folder);
	if (built)
		error = set_file("UHCA_DAEMON", folder, "uhcad");
	if (built && error == 0)
		error = set_file("UHCA_PRELOAD", folder, LIBRARY);
	return error < 0 ? error : add_to_path(folder, built);
}
