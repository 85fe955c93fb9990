/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's functions on descriptors that must know an open of the rdma_cm device: write
 * brings it commands; fstat.c asks here what a program expects of it. See paths.c for how such
 * definitions work.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include "real.h"
#include "ucma.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define MISC_MAJOR 10
#define MINOR      58

EXPORT ssize_t write(int fd, const void *buf, size_t count)
{
	if (uhca_ucma_is_ours(fd))
		return uhca_ucma_write(fd, buf, count);
	return UHCA_REAL(write) ? UHCA_REAL(write)(fd, buf, count)
				: syscall(SYS_write, fd, buf, count);
}

void uhca_ucma_disguise(int fd, struct stat *st)
{
	if (S_ISSOCK(st->st_mode) && uhca_ucma_is_ours(fd)) {
		st->st_mode = S_IFCHR | 0600;
		st->st_rdev = makedev(MISC_MAJOR, MINOR);
	}
}
