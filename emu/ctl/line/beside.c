/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds uhcad, the provider and the preload library relative to the running program. */
#include "beside.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/*
 * Where the other parts lie: where they are built, seen from the folder of this program; installed
 * with the default folders, as in the tarball for all systems, seen from the one above it.
 */
enum layout { BUILT, INSTALLED };

static const struct {
	const char *variable;
	const char *file[INSTALLED + 1];
	int needs; /* access(2) to it tells that the layout is this one; 0: it does not */
} parts[] = {
	{"UHCA_DAEMON", {"uhcad", "sbin/uhcad"}, X_OK},
	{"UHCA_PRELOAD",
	 {"provider/.libs/libuhca_preload.so", "lib/uhca/libuhca_preload.so"},
	 R_OK},
	{"UHCA_SANITIZER", {"uhca-sanitizer", "libexec/uhca/uhca-sanitizer"}, 0},
	{"UHCA_SERVER", {"uhca-serve", "libexec/uhca/uhca-serve"}, 0},
	{"UHCA_STOCK_SUPPRESSIONS", {"stock.supp", "share/uhca/stock.supp"}, 0},
	{"UHCA_MACHINES", {"machines", "share/uhca/machines"}, 0},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static bool cut_last_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	return slash;
}

/* The folder of this program, without the last slash. */
static int find_folder(char out[PATH_MAX])
{
	/* Where there is no /proc: as it was called. */
	const char *called = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

	if (n >= 0)
		out[n] = '\0';
	else if (!called || !realpath(called, out))
		return -errno;
	return cut_last_name(out) ? 0 : -ENOENT;
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

static bool may_use(const char *folder, const char *file, int mode)
{
	char path[2 * PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", folder, file) < sizeof(path) &&
	       access(path, mode) == 0;
}

static bool has_layout(const char *folder, enum layout l)
{
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i].needs && !may_use(folder, parts[i].file[l], parts[i].needs))
			return false;
	return true;
}

static int set_files(const char *folder, enum layout l)
{
	int error = 0;

	for (size_t i = 0; i < PARTS && error == 0; i++)
		error = set_file(parts[i].variable, folder, parts[i].file[l]);
	return error;
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
	char folder[PATH_MAX], above[PATH_MAX];
	int error = find_folder(folder);
	bool built;

	if (error < 0)
		return error;
	built = has_layout(folder, BUILT);
	strcpy(above, folder);
	cut_last_name(above);
	if (built)
		error = set_files(folder, BUILT);
	else if (has_layout(above, INSTALLED))
		error = set_files(above, INSTALLED);
	return error < 0 ? error : add_to_path(folder, built);
}
