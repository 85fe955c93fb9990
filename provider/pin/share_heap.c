/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run --share-heap: allocates large memory in the shared arena. */
#include "share_heap.h"

#include "arena.h"
#include "emu/abi/ctl.h"
#include "fork_copy.h"
#include "lock.h"
#include "pinning.h"
#include "provider/base/base.h"
#include "replace.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u
#define MOST (4ull << 30) /* larger ones are room that is reserved, more likely than a buffer */
#define HELPS_BY                                                                                   \
	(MAP_FIXED | MAP_SHARED | MAP_NORESERVE | MAP_GROWSDOWN | MAP_HUGETLB | MAP_LOCKED |       \
	 MAP_STACK)

static atomic_bool forked;

static void in_parent(void)
{
	atomic_store(&forked, true);
}

/* It has its own memory, and no children. */
static void in_child(void)
{
	atomic_store(&forked, false);
}

static bool is_asked_for(void)
{
	const char *asked = secure_getenv(UHCA_SHARE_HEAP_ENV);

	return asked && *asked && *asked != '0';
}

/* ---- sharing ---- */

static bool may_be_shared(const struct uhcav_mapping *m)
{
	return m->plain && !m->shared && m->prot == (PROT_READ | PROT_WRITE);
}

static void replace(uintptr_t from, uintptr_t to)
{
	int fd = uhcav_arena_fd();
	uint64_t offset;

	if (fd < 0 || uhcav_arena_take(from, to - from, &offset))
		return;
	(void)uhcav_replace(from, to, fd, offset, UHCAV_STOP_NONE);
	/* No region has it yet; while it is mapped, it stays. */
	uhcav_arena_release(offset, to - from);
}

/* The whole pages of memory that was just allocated. */
static void share(void *p, size_t length)
{
	uintptr_t at = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)p + length) & ~(uintptr_t)(PAGE - 1);
	int saved = errno;
	struct uhcav_mapping m;

	if (end < at || end - at < UHCAV_PIN_MIN || end - at > MOST || atomic_load(&forked) ||
	    !uhcav_pinning_lock_soon())
		return;
	for (; at < end && !uhcav_maps_find(at, &m) && m.from < end; at = m.to)
		if (may_be_shared(&m) && m.from <= at)
			replace(at, m.to < end ? m.to : end);
	uhcav_pinning_unlock();
	errno = saved;
}

/* ---- in the slots ---- */

static int hear_posix_memalign(void **out, size_t align, size_t size);
static void *hear_aligned_alloc(size_t align, size_t size);
static void *hear_memalign(size_t align, size_t size);
static void *hear_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

enum { POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN, MMAP, MMAP64 };

static struct uhcav_got_call calls[] = {
	[POSIX_MEMALIGN] = {.name = "posix_memalign", .answer = (void *)hear_posix_memalign},
	[ALIGNED_ALLOC] = {.name = "aligned_alloc", .answer = (void *)hear_aligned_alloc},
	[MEMALIGN] = {.name = "memalign", .answer = (void *)hear_memalign},
	[MMAP] = {.name = "mmap", .answer = (void *)hear_mmap},
	[MMAP64] = {.name = "mmap64", .answer = (void *)hear_mmap}, /* of the same size here */
	{.name = NULL},
};

static int hear_posix_memalign(void **out, size_t align, size_t size)
{
	int (*behind)(void **, size_t, size_t);
	int err;

	*(void **)&behind = calls[POSIX_MEMALIGN].behind;
	err = behind(out, align, size);
	if (!err)
		share(*out, size);
	return err;
}

static void *aligned(unsigned call, size_t align, size_t size)
{
	void *(*behind)(size_t, size_t);
	void *p;

	*(void **)&behind = calls[call].behind;
	p = behind(align, size);
	if (p)
		share(p, size);
	return p;
}

static void *hear_aligned_alloc(size_t align, size_t size)
{
	return aligned(ALIGNED_ALLOC, align, size);
}

static void *hear_memalign(size_t align, size_t size)
{
	return aligned(MEMALIGN, align, size);
}

static void *hear_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *(*behind)(void *, size_t, int, int, int, off_t);
	void *p;

	*(void **)&behind = calls[MMAP].behind;
	p = behind(addr, length, prot, flags, fd, offset);
	if (p != MAP_FAILED && prot == (PROT_READ | PROT_WRITE) && (flags & MAP_ANONYMOUS) &&
	    !(flags & HELPS_BY))
		share(p, length);
	return p;
}

static void install(void)
{
	pthread_atfork(NULL, in_parent, in_child);
}

void uhcav_share_heap_listen(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool all = true;

	if (!is_asked_for())
		return;
	uhcav_pinning_lock();
	for (struct uhcav_got_call *c = calls; c->name; c++) {
		if (!c->behind)
			c->behind = dlsym(RTLD_DEFAULT, c->name);
		all &= c->behind != NULL;
	}
	if (all) {
		uhcav_fork_copy_install();
		pthread_once(&once, install);
		(void)uhcav_got_patch_all(calls);
	}
	uhcav_pinning_unlock();
}
