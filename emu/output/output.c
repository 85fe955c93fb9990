/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See output.h. Files are emptied and written in place, not renamed into place: some are read while
 * they grow, and some lie in folders where nothing can be made or renamed (a mount of one file).
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The descriptor of ours that the path names, or -1. These names are links by nature, and opening
 * what they lead to would begin a file again that is half written, and fail for a socket.
 */
static int named_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	unsigned long fd;
	char *end;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(path, folders[i], len) != 0 || path[len] < '0' || path[len] > '9')
			continue;
		fd = strtoul(path + len, &end, 10);
		return *end || fd > 0x7fffffff ? -1 : (int)fd;
	}
	return -1;
}

static int take_descriptor(int named)
{
	int fd = fcntl(named, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? -errno : fd;
}

/* Empties it, where that is asked for and it is ours to do. */
static int prepare(int fd, unsigned how)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return how & OUTPUT_REGULAR ? -EINVAL : 0;
	if (st.st_uid != geteuid() || st.st_nlink > 1)
		return -EPERM;
	return how & OUTPUT_APPEND || ftruncate(fd, 0) == 0 ? 0 : -errno;
}

int output_open(const char *path, unsigned how)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
	int named = how & OUTPUT_REGULAR ? -1 : named_descriptor(path);
	int fd, error;

	if (named >= 0)
		return take_descriptor(named);
	flags |= how & OUTPUT_APPEND ? O_APPEND : 0;
	flags |= how & OUTPUT_REGULAR ? O_NONBLOCK : 0;
	fd = open(path, flags, how & OUTPUT_PRIVATE ? 0600 : 0666);
	if (fd < 0)
		return -errno;
	error = prepare(fd, how);
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

const char *output_error(int error)
{
	if (error == -ELOOP)
		return "is a symbolic link; links are not followed";
	if (error == -EPERM)
		return "belongs to another user or has other hard links; not overwritten";
	return strerror(-error);
}
