/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths of a described machine. The files tell: what lies there is ours, unless a link leads to
 * the host's. System calls, because the functions for them are those that come to ask.
 */
#include "path_map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Folders that both have: which entry is meant says whose it is. */
static const char *const shared[] = {
	"/sys/bus/pci/devices",
	"/sys/class/net",
	"/sys/class/pci_bus",
};

/* What is ours alone, when it is there. */
static const char *const own[] = {
	"/sys/devices/pci",         "/sys/devices/virtual/infiniband",
	"/sys/devices/virtual/net", "/sys/devices/system/node",
	"/sys/bus/pci/drivers",
};

static bool exists(const char *path)
{
	return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

static bool leads_to_host(const char *path)
{
	char first;

	return syscall(SYS_readlinkat, AT_FDCWD, path, &first, 1) == 1 && first == '/';
}

/* "to" up to the end of its component that begins "behind" bytes in front of its end. */
static bool entry_is_ours(const char *to, size_t behind)
{
	char entry[PATH_MAX];
	size_t len = strlen(to), end = len - behind;

	end += strspn(to + end, "/");
	if (end == len)
		return exists(to); /* the folder itself */
	end += strcspn(to + end, "/");
	if (end >= sizeof(entry))
		return false;
	memcpy(entry, to, end);
	entry[end] = '\0';
	return !leads_to_host(entry) && exists(entry);
}

static bool ask(const char *path, const char *to)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		size_t n = strlen(shared[i]);

		if (!strncmp(path, shared[i], n) && (!path[n] || path[n] == '/'))
			return entry_is_ours(to, strlen(path + n));
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(path, own[i], strlen(own[i])))
			return exists(to);
	return false;
}

bool uhca_machine_paths_has(const char *path, const char *to)
{
	int saved = errno;
	bool ours = ask(path, to);

	errno = saved;
	return ours;
}
