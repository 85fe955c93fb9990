/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See replace.h. Between the copy of a page and its replacement nobody may store there. We do not,
 * with signals blocked; other threads are held by userfaultfd(2): the pages are moved away
 * (mremap(2) with MREMAP_DONTUNMAP), so that a touch of the range waits as for a missing page, are
 * copied where they are now, and the arena is mapped where they were; then the waiting go on.
 *
 * It goes in chunks, so that nobody is held for long. From the first to the last only stack and
 * system calls are used: the range may be the allocator's.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

#define CHUNK     ((uintptr_t)2 << 20)
#define PAGES     512u /* of a chunk, at most */
#define PAGE_BITS 12
#define THERE     (3ull << 62) /* of an entry of pagemap: present or swapped */

struct job {
	int fd; /* of the arena */
	int uffd;
	int pagemap;
	uint64_t offset;
	uintptr_t from, end;
	bool holes; /* there were pages that had never been touched */
};

/* ---- userfaultfd ---- */

static int open_uffd(unsigned flags)
{
	int dev, fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags);

	if (fd >= 0 || flags)
		return fd;
	dev = (int)syscall(SYS_openat, AT_FDCWD, "/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -1;
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
	close(dev);
	return fd;
}

static int open_ready(unsigned flags, uint64_t features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	int fd = open_uffd(flags);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

int uhcav_uffd_open(uint64_t features)
{
	return open_ready(0, features);
}

static bool can(unsigned flags)
{
	int fd = open_ready(flags, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

enum uhcav_stop uhcav_stop_for_threads(void)
{
	if (can(0))
		return UHCAV_STOP_ALL;
	return can(UFFD_USER_MODE_ONLY) ? UHCAV_STOP_USER : UHCAV_STOP_UNKNOWN;
}

static int watch(struct job *j, enum uhcav_stop stop)
{
	struct uffdio_register r = {.range = {j->from, j->end - j->from},
				    .mode = UFFDIO_REGISTER_MODE_MISSING};

	j->uffd = open_ready(stop == UHCAV_STOP_USER ? UFFD_USER_MODE_ONLY : 0, 0);
	if (j->uffd < 0)
		return -ENOTSUP;
	return ioctl(j->uffd, UFFDIO_REGISTER, &r) ? -errno : 0;
}

/* ---- a chunk ---- */

/*
 * Whole pages. Not by memcpy: a sanitizer's stands in front of that in programs that it watches,
 * and pages may have parts that the program must not touch.
 */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) static void
copy_pages(void *to, const void *from, size_t length)
{
	const volatile uint64_t *f = from;
	volatile uint64_t *t = to;

	for (size_t i = 0; i < length / sizeof(*t); i++)
		t[i] = f[i];
}

/*
 * Into the file. By pwrite(2): pages that are stored to in a mapping are zeroed first, one fault
 * for each.
 */
static int write_pages(const struct job *j, uint64_t offset, uintptr_t from, size_t length)
{
	while (length) {
		long n = syscall(SYS_pwrite64, j->fd, from, length, offset);

		if (n <= 0)
			return n ? -errno : -EIO;
		offset += (uint64_t)n;
		from += (uintptr_t)n;
		length -= (size_t)n;
	}
	return 0;
}

static size_t count_untouched(const uint64_t *entry, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !(entry[i] & THERE);
	return count;
}

/* Where a page was never touched, zeros are read, not what the file has of an earlier region. */
static int make_hole(const struct job *j, uint64_t offset, size_t length)
{
	int err = fallocate(j->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			    (off_t)length);

	return err ? -errno : 0;
}

/* Copies n pages that follow each other, but for those that were never touched. */
static int copy_present(struct job *j, uint64_t offset, uintptr_t from, size_t n)
{
	uint64_t entry[PAGES];
	size_t bytes = n * sizeof(entry[0]), first;
	off_t at = (off_t)((from >> PAGE_BITS) * sizeof(entry[0]));
	bool known = j->pagemap >= 0 && pread(j->pagemap, entry, bytes, at) == (ssize_t)bytes;
	size_t untouched = known ? count_untouched(entry, n) : 0;
	int err = untouched ? make_hole(j, offset, n << PAGE_BITS) : 0;

	j->holes |= untouched > 0;
	for (size_t i = 0; i < n && !err; i++) {
		if (known && !(entry[i] & THERE))
			continue;
		first = i;
		while (i + 1 < n && (!known || (entry[i + 1] & THERE)))
			i++;
		err = write_pages(j, offset + (first << PAGE_BITS), from + (first << PAGE_BITS),
				  (i + 1 - first) << PAGE_BITS);
	}
	return err;
}

static uint64_t offset_of(const struct job *j, uintptr_t at)
{
	return j->offset + (at - j->from);
}

static bool map_arena(const struct job *j, uintptr_t at, size_t length)
{
	void *p = mmap((void *)at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, j->fd,
		       (off_t)offset_of(j, at));

	return p != MAP_FAILED;
}

static int swap_alone(struct job *j, uintptr_t at, size_t length)
{
	int err = copy_present(j, offset_of(j, at), at, length >> PAGE_BITS);

	if (err)
		return err;
	return map_arena(j, at, length) ? 0 : -errno;
}

static int swap_watched(struct job *j, uintptr_t at, size_t length)
{
	struct uffdio_range waiting = {at, length};
	void *away = mremap((void *)at, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	int err;

	if (away == MAP_FAILED)
		return -errno;
	err = copy_present(j, offset_of(j, at), (uintptr_t)away, length >> PAGE_BITS);
	if (!err && !map_arena(j, at, length))
		err = -errno;
	if (err)
		mremap(away, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)at);
	else
		munmap(away, length);
	ioctl(j->uffd, UFFDIO_WAKE, &waiting);
	return err;
}

static int swap_all(struct job *j)
{
	for (uintptr_t at = j->from; at < j->end; at += CHUNK) {
		size_t length = j->end - at < CHUNK ? j->end - at : CHUNK;
		int err = j->uffd < 0 ? swap_alone(j, at, length) : swap_watched(j, at, length);

		if (err) {
			uhcav_make_private(j->from, at, PROT_READ | PROT_WRITE);
			return err;
		}
	}
	return 0;
}

/* ---- all of it ---- */

static int open_job(struct job *j, enum uhcav_stop stop)
{
	j->pagemap = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return stop == UHCAV_STOP_NONE ? 0 : watch(j, stop);
}

static void close_job(struct job *j)
{
	if (j->pagemap >= 0)
		close(j->pagemap);
	if (j->uffd >= 0)
		close(j->uffd); /* what is still watched is so no more */
}

bool uhcav_may_write(uint64_t end)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && end <= limit.rlim_cur;
}

int uhcav_replace(uintptr_t from, uintptr_t to, int fd, uint64_t offset, enum uhcav_stop stop)
{
	struct job j = {
		.fd = fd, .uffd = -1, .pagemap = -1, .offset = offset, .from = from, .end = to};
	sigset_t all, old;
	int err;

	if (stop == UHCAV_STOP_UNKNOWN)
		return -EPERM;
	if (!uhcav_may_write(offset + (to - from)))
		return -EFBIG;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = open_job(&j, stop);
	if (!err)
		err = swap_all(&j);
	close_job(&j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? err : j.holes;
}

int uhcav_make_private(uintptr_t from, uintptr_t to, int prot)
{
	for (uintptr_t at = from; at < to; at += CHUNK) {
		size_t length = to - at < CHUNK ? to - at : CHUNK;
		void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (copy == MAP_FAILED)
			return -errno;
		if (!(prot & PROT_READ) && mprotect((void *)at, length, prot | PROT_READ))
			return -errno;
		copy_pages(copy, (const void *)at, length);
		if (prot != (PROT_READ | PROT_WRITE) && mprotect(copy, length, prot))
			return -errno;
		if (mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)at) ==
		    MAP_FAILED)
			return -errno;
	}
	return 0;
}
