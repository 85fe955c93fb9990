/* SPDX-License-Identifier: BSD-2-Clause */
/* See descriptor.h; statx(2), ioctl_fs(2), socket(7), proc_pid_mem(5). */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool look(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, st) == 0;
}

/* What open(2) has opened: O_PATH asks nobody whether it may. */
static bool is_open(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH);
}

int io_descriptor_file(int fd, uint64_t id[2])
{
	struct statx st;

	if (!is_open(fd) || !look(fd, &st))
		return -EBADF;
	id[0] = makedev(st.stx_dev_major, st.stx_dev_minor);
	id[1] = st.stx_ino;
	return 0;
}

uint64_t io_descriptor_socket(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) == 0 ? cookie : 0;
}

static bool is_seqpacket(int fd)
{
	int domain;
	int type;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

bool io_descriptor_is_pair(int fd)
{
	struct sockaddr_un at;
	socklen_t len = sizeof(at);

	return is_seqpacket(fd) && getpeername(fd, (struct sockaddr *)&at, &len) == 0 &&
	       len == sizeof(sa_family_t);
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
static bool is_proc(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct statx st;

	return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !(flags & O_PATH) && look(fd, &st) &&
	       S_ISREG(st.stx_mode) && block_size(fd) == 1024 && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Where no process has memory, /proc/PID/mem answers EIO. Other files of procfs are at their end
 * there. Their names prove nothing: whoever has a mount namespace can give any of them any name.
 */
bool io_descriptor_is_memory(int fd)
{
	const off_t nowhere = (off_t)(INT64_MAX & ~UINT64_C(0xffff));
	uint8_t byte;

	return is_proc(fd) && pread(fd, &byte, sizeof(byte), nowhere) < 0 && errno == EIO;
}
