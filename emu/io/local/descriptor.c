/* SPDX-License-Identifier: BSD-2-Clause */
/* See descriptor.h; statx(2), ioctl_fs(2). */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool look(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, st) == 0;
}

int io_descriptor_file(int fd, uint64_t id[2])
{
	struct statx st;

	if (!look(fd, &st))
		return -EBADF;
	id[0] = makedev(st.stx_dev_major, st.stx_dev_minor);
	id[1] = st.stx_ino;
	return 0;
}

uint64_t io_descriptor_socket(int fd)
{
	struct statx st;

	return look(fd, &st) && S_ISSOCK(st.stx_mode) ? st.stx_ino : 0;
}

static int block_size(int fd)
{
	int size = 0;

	return ioctl(fd, FIGETBSZ, &size) < 0 ? 0 : size;
}

/*
 * The block size of a file system is the kernel's own knowledge of it. That of procfs is 1024; file
 * systems that have somebody to ask have pages or more. What has it may be asked what it is.
 */
bool io_descriptor_is_proc(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct statx st;

	return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !(flags & O_PATH) && look(fd, &st) &&
	       S_ISREG(st.stx_mode) && block_size(fd) == 1024 && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == PROC_SUPER_MAGIC;
}
