/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See arena.h. Only memory files have seals: asking for them tells what the descriptor is without a
 * call into a file system that might not answer. Of pages of another size (MFD_HUGETLB) the system
 * may have none left when they are touched, which would end us.
 */
#include "arena.h"

#include "emu/abi/cmd.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static bool is_right(int fd, uint64_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct stat st;

	return seals >= 0 && (seals & F_SEAL_SHRINK) && (flags & O_ACCMODE) == O_RDWR &&
	       fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC && fstat(fd, &st) == 0 &&
	       (uint64_t)st.st_size >= size;
}

int io_arena_open(struct io_arena *a, int fd, uint64_t size)
{
	void *base;

	*a = (struct io_arena){0};
	if (size == 0 || size > UHCA_ABI_MAX_ARENA || !is_right(fd, size))
		return -EINVAL;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED)
		return errno == EPERM || errno == EACCES ? -EINVAL : -ENOMEM;
	madvise(base, size, MADV_DONTDUMP); /* it is the program's */
	*a = (struct io_arena){base, size};
	return 0;
}

void io_arena_close(struct io_arena *a)
{
	if (a->base)
		io_undertaker_unmap(a->base, a->size);
	*a = (struct io_arena){0};
}
