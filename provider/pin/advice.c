/* SPDX-License-Identifier: BSD-2-Clause */
/* Intercepts madvise and mremap on pinned memory of files. */
#include "advice.h"

#include "arena.h"
#include "provider/base/base.h"
#include "replace.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* In newer headers. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Fresh pages, with the rights that were there. */
static int drop(uintptr_t from, uintptr_t to, int prot)
{
	void *p =
		mmap((void *)from, to - from, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

/* Does this with each part of the range that is pinned. */
static void each(void *addr, size_t length, int (*what)(uintptr_t, uintptr_t, int))
{
	uintptr_t at = (uintptr_t)addr, end = at + length;
	int saved = errno;
	struct uhcav_mapping m;

	if (!uhcav_arena_is_used() || end < at)
		return;
	for (; at < end && !uhcav_maps_find(at, &m) && m.from < end; at = m.to)
		if (uhcav_arena_has(&m))
			what(m.from > at ? m.from : at, m.to < end ? m.to : end, m.prot);
	errno = saved;
}

/*
 * MADV_DONTNEED and MADV_FREE: the program has fresh pages there afterwards, the device keeps the
 * old ones.
 */
static void prepare(void *addr, size_t length, int advice)
{
	uintptr_t mask = 4095;

	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_FREE:
		if (!((uintptr_t)addr & mask)) /* else it is refused */
			each(addr, (length + mask) & ~mask, drop);
		break;
	case MADV_WIPEONFORK:
	case MADV_REMOVE: /* refused for private memory, and so it must be */
		each(addr, length, uhcav_make_private);
		break;
	default:
		break;
	}
}

/* ---- in the slots ---- */

static int hear_madvise(void *addr, size_t length, int advice);
static void *hear_mremap(void *addr, size_t old_length, size_t new_length, int flags, ...);

static struct uhcav_got_call calls[] = {
	{.name = "madvise", .answer = (void *)hear_madvise},
	{.name = "mremap", .answer = (void *)hear_mremap},
	{.name = NULL},
};

static int hear_madvise(void *addr, size_t length, int advice)
{
	int (*behind)(void *, size_t, int);

	*(void **)&behind = calls[0].behind;
	prepare(addr, length, advice);
	return behind(addr, length, advice);
}

static void *hear_mremap(void *addr, size_t old_length, size_t new_length, int flags, ...)
{
	void *(*behind)(void *, size_t, size_t, int, ...);
	void *to = NULL;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(ap, void *);
	va_end(ap);
	*(void **)&behind = calls[1].behind;
	each(addr, old_length, uhcav_make_private);
	return behind(addr, old_length, new_length, flags, to);
}

bool uhcav_advice_listen(void)
{
	for (struct uhcav_got_call *c = calls; c->name; c++)
		if (!c->behind)
			c->behind = dlsym(RTLD_DEFAULT, c->name);
	return calls[0].behind && calls[1].behind && uhcav_got_patch_all(calls);
}
