/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See arena.h. Only memory files have seals: asking for them tells what the descriptor is without a
 * call into a file system that might not answer. Of pages of another size (MFD_HUGETLB) the system
 * may have none left when they are touched, which would end us.
 */
#include "arena.h"

#include "arena_watch.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define ADDRESSES (UINT64_C(1) << 47) /* of a process, on x86-64; others have as many or more */

_Static_assert(CORE_ARENA_WINDOWS *CORE_ARENA_WINDOW == UHCA_ABI_MAX_ARENA, "windows of it");

static LIST_HEAD(, io_arena) arenas = LIST_HEAD_INITIALIZER(arenas);
static uint64_t mapped;

static bool is_right(int fd, uint64_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct stat st;

	return seals >= 0 && (seals & F_SEAL_SHRINK) &&
	       !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) && (flags & O_ACCMODE) == O_RDWR &&
	       fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC && fstat(fd, &st) == 0 &&
	       (uint64_t)st.st_size >= size;
}

int io_arena_open(struct io_arena *a, int fd, uint64_t size)
{
	*a = (struct io_arena){.fd = -1};
	if (size == 0 || size > UHCA_ABI_MAX_ARENA || !is_right(fd, size))
		return -EINVAL;
	a->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (a->fd < 0)
		return -errno;
	a->open = true;
	a->core.size = size;
	LIST_INSERT_HEAD(&arenas, a, link);
	return 0;
}

/* ---- windows ---- */

static uint64_t window_size(const struct io_arena *a, uint64_t n)
{
	uint64_t left = a->core.size - n * CORE_ARENA_WINDOW;

	return left < CORE_ARENA_WINDOW ? left : CORE_ARENA_WINDOW;
}

void io_arena_close(struct io_arena *a)
{
	if (!a->open)
		return;
	for (unsigned n = 0; n < CORE_ARENA_WINDOWS; n++)
		if (a->core.window[n])
			io_reaper_unmap(a->core.window[n], window_size(a, n));
	mapped -= a->mapped;
	io_reaper_close(a->fd);
	LIST_REMOVE(a, link);
	*a = (struct io_arena){.fd = -1};
}

static int map(struct io_arena *a, uint64_t n)
{
	uint64_t size = window_size(a, n);
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, a->fd,
			  (off_t)(n * CORE_ARENA_WINDOW));

	if (base == MAP_FAILED)
		return -ENOSPC;
	madvise(base, size, MADV_DONTDUMP); /* it is the program's */
	if (io_arena_watch_add(base, size) < 0) {
		munmap(base, size);
		return -ENOSPC;
	}
	a->core.window[n] = base;
	a->mapped += size;
	mapped += size;
	return 0;
}

uint64_t io_arena_missing(const struct io_arena *a, uint64_t offset, uint64_t length)
{
	uint64_t bytes = 0;

	for (uint64_t n = offset / CORE_ARENA_WINDOW;
	     length > 0 && n <= (offset + length - 1) / CORE_ARENA_WINDOW; n++)
		if (!a->core.window[n])
			bytes += window_size(a, n);
	return bytes;
}

int io_arena_reach(struct io_arena *a, uint64_t offset, uint64_t length)
{
	int error = 0;

	for (uint64_t n = offset / CORE_ARENA_WINDOW;
	     length > 0 && n <= (offset + length - 1) / CORE_ARENA_WINDOW && error == 0; n++)
		if (!a->core.window[n])
			error = map(a, n);
	return error;
}

uint64_t io_arenas_most(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur < ADDRESSES)
		return r.rlim_cur / 4;
	return ADDRESSES / 4;
}

uint64_t io_arenas_mapped(void)
{
	return mapped;
}

/* ---- for arena_watch.c ---- */

struct io_arena *io_arena_of(const void *address, uint8_t **end)
{
	struct io_arena *a;

	LIST_FOREACH(a, &arenas, link)
	{
		for (unsigned n = 0; n < CORE_ARENA_WINDOWS; n++) {
			uint8_t *base = a->core.window[n];

			if (!base || (uintptr_t)address - (uintptr_t)base >= window_size(a, n))
				continue;
			*end = base + window_size(a, n);
			return a;
		}
	}
	return NULL;
}
