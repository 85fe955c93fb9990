/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See fork_copy.h. The child of a process with threads may call little: here are system calls and
 * the stack only.
 */
#include "fork_copy.h"

#include "arena.h"
#include "lock.h"
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* In newer headers. */
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* Of a fork that is under way; one at a time, because the lock is held over it. */
static int done[2] = {-1, -1}; /* the child says when it has its copies, or ends */
static int uffd = -1;          /* holds those that store */

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Does this with each mapping of the arena. It may change what it is given, and nothing else. */
static void each(void (*what)(const struct uhcav_mapping *m))
{
	struct uhcav_mapping m = {0};

	while (!uhcav_maps_find(m.to, &m))
		if (uhcav_arena_has(&m))
			what(&m);
}

/* ---- the other threads ---- */

static void protect(const struct uhcav_mapping *m)
{
	struct uffdio_register r = {.range = {m->from, m->to - m->from},
				    .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect w = {.range = r.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

	if (!ioctl(uffd, UFFDIO_REGISTER, &r))
		ioctl(uffd, UFFDIO_WRITEPROTECT, &w);
}

static void unprotect(const struct uhcav_mapping *m)
{
	struct uffdio_writeprotect w = {.range = {m->from, m->to - m->from}};

	ioctl(uffd, UFFDIO_WRITEPROTECT, &w);
}

static void hold_threads(void)
{
	uffd = uhcav_uffd_open(UFFD_FEATURE_WP_HUGETLBFS_SHMEM);
	if (uffd >= 0)
		each(protect);
}

static void let_threads_go(void)
{
	if (uffd < 0)
		return;
	each(unprotect);
	close_end(&uffd);
}

/* ---- the fork ---- */

/* The pipe is there while pages of the arena are in use. */
static void lock_before(void)
{
	uhcav_pinning_lock();
	if (uhcav_arena_is_used() && pipe2(done, O_CLOEXEC))
		done[0] = done[1] = -1;
}

void uhcav_fork_copy_before(void)
{
	if (done[0] >= 0 && uffd < 0)
		hold_threads();
}

void uhcav_fork_copy_in_parent(void)
{
	char byte;

	if (done[0] < 0)
		return;
	close_end(&done[1]);
	while (read(done[0], &byte, 1) < 0 && errno == EINTR)
		;
	close_end(&done[0]);
	let_threads_go();
}

static void make_private(const struct uhcav_mapping *m)
{
	/* A child that would share its parent's memory is not one that can go on. */
	if (uhcav_make_private(m->from, m->to, m->prot))
		_exit(127);
}

void uhcav_fork_copy_in_child(void)
{
	int saved = errno;

	if (!uhcav_arena_is_used())
		return;
	close_end(&uffd);
	each(make_private);
	uhcav_arena_forget();
	close_end(&done[1]); /* it is the last one but the parent's, who has closed it */
	close_end(&done[0]);
	errno = saved;
}

static void install(void)
{
	pthread_atfork(lock_before, uhcav_pinning_unlock, uhcav_pinning_unlock);
}

void uhcav_fork_copy_install(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}
