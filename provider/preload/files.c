/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's functions on descriptors that must know an open of the rdma_cm device: write
 * brings it commands, and fstat says what a program expects of it. See paths.c for how such
 * definitions work.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include "real.h"
#include "ucma.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define MISC_MAJOR 10
#define MINOR      58

int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);

EXPORT ssize_t write(int fd, const void *buf, size_t count)
{
	if (uhca_ucma_is_ours(fd))
		return uhca_ucma_write(fd, buf, count);
	return UHCA_REAL(write) ? UHCA_REAL(write)(fd, buf, count)
				: syscall(SYS_write, fd, buf, count);
}

static int stat_fd(int fd, struct stat *st)
{
	int result = (int)syscall(SYS_fstat, fd, st);

	if (result == 0 && S_ISSOCK(st->st_mode) && uhca_ucma_is_ours(fd)) {
		st->st_mode = S_IFCHR | 0600;
		st->st_rdev = makedev(MISC_MAJOR, MINOR);
	}
	return result;
}

EXPORT int fstat(int fd, struct stat *st)
{
	return stat_fd(fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return stat_fd(fd, (struct stat *)st);
}

EXPORT int __fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return stat_fd(fd, st);
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *st)
{
	(void)version;
	return stat_fd(fd, (struct stat *)st);
}
