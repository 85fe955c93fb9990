/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See page_watch.h. The lock is held with all signals blocked, so that the handler of a fault may
 * take it: nothing of the program runs under it.
 */
#include "page_watch.h"

#include "fault.h"
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t outside; /* what the one who has the lock had blocked */

void uhcav_page_watch_lock(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_mutex_lock(&lock);
	outside = before;
}

void uhcav_page_watch_unlock(void)
{
	sigset_t before = outside;

	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- can it be done here? ---- */

static bool device_reaches;
static pthread_once_t tried = PTHREAD_ONCE_INIT;

/* Kernels can be told not to let descriptors past page protection (proc_mem.force_override). */
static void try_descriptor(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	device_reaches = at != MAP_FAILED && fd >= 0 && pwrite(fd, "", 1, (off_t)at) == 1;
	if (!device_reaches)
		fprintf(stderr, "uhca: --sanitize=page protects nothing: the system blocks the "
				"device's access to protected pages\n");
	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		munmap(at, page);
}

/* ---- holds ---- */

/* Does a receive meet others? Then these are not protected any more either. */
static bool is_shared(uintptr_t from, uintptr_t to, const struct uhcav_page_watch_post *post)
{
	bool found = false;

	for (uint32_t name = 0; post->is_recv && (name = uhcav_hold_meets(name, from, to));) {
		if (!uhcav_hold_post(name)->is_recv)
			continue;
		if (uhcav_hold_at(name)->kind == UHCAV_HOLD_TARGET)
			uhcav_hold_change(name, UHCAV_HOLD_SHARED);
		found = true;
	}
	return found;
}

static uint32_t begin(uintptr_t from, uintptr_t to, enum uhcav_hold_kind kind,
		      const struct uhcav_page_watch_post *post)
{
	uint32_t name = 0;

	if (from >= to)
		return 0;
	uhcav_page_watch_lock();
	if (uhcav_fault_listen())
		name = uhcav_hold_new(from, to, post);
	if (name)
		uhcav_hold_change(name, is_shared(from, to, post) ? UHCAV_HOLD_SHARED : kind);
	uhcav_page_watch_unlock();
	return name;
}

uint32_t uhcav_page_watch_begin(const struct uhcav_page_watch_post *post)
{
	uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t end = post->at + post->length;
	int saved = errno;
	uint32_t name;

	pthread_once(&tried, try_descriptor);
	if (!device_reaches || end < post->at || post->at > ~mask)
		return 0;
	name = begin((post->at + mask) & ~mask, end & ~mask,
		     post->is_target ? UHCAV_HOLD_TARGET : UHCAV_HOLD_SOURCE, post);
	errno = saved;
	return name;
}

bool uhcav_page_watch_end(uint32_t name)
{
	int saved = errno;
	bool reported;

	if (!name)
		return false;
	uhcav_page_watch_lock();
	reported = uhcav_hold_at(name)->kind == UHCAV_HOLD_REPORTED;
	uhcav_hold_change(name, UHCAV_HOLD_NONE);
	uhcav_hold_free(name);
	uhcav_page_watch_unlock();
	errno = saved;
	return reported;
}

uint32_t uhcav_page_watch_lift(uint64_t at, uint64_t length)
{
	const struct uhcav_page_watch_post nobody = {.at = at, .length = length};
	uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	int saved = errno;
	uint32_t name;

	if (!device_reaches || at + length < at || at + length > ~mask)
		return 0;
	name = begin(at & ~mask, (at + length + mask) & ~mask, UHCAV_HOLD_LIFTED, &nobody);
	errno = saved;
	return name;
}

bool uhcav_page_watch_covers(uint64_t at, uint64_t length)
{
	bool found;

	uhcav_page_watch_lock();
	found = uhcav_hold_meets(0, at, at + length);
	uhcav_page_watch_unlock();
	return found;
}

void uhcav_page_watch_forget(void)
{
	uhcav_holds_end();
}
