/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks for "socket:[INODE]" among the descriptors of all processes. See holders.h. */
#include "holders.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME 64u

static bool has_open(pid_t pid, const char *name)
{
	char path[NAME + 16], target[NAME];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *fds = opendir(path);
	bool found = false;
	const struct dirent *e;
	while (fds && !found && (e = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), e->d_name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, name) == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

unsigned holders_of(uint64_t inode, pid_t *pids, unsigned room)
{
	DIR *all = opendir("/proc");
	const struct dirent *e;
	char name[NAME];
	unsigned n = 0;
	snprintf(name, sizeof(name), "socket:[%" PRIu64 "]", inode);
	while (all && (e = readdir(all))) {
		pid_t pid = (pid_t)atol(e->d_name);
		if (pid <= 0 || !has_open(pid, name))
			continue;
		if (n < room)
			pids[n] = pid;
		n++;
	}
	if (all)
		closedir(all);
	return n;
}
