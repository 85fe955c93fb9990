/* SPDX-License-Identifier: BSD-2-Clause */
/* See advice.h. */
#include "advice.h"

#include "arena.h"
#include "replace.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

/* In newer headers. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

static unsigned heard; /* calls that came here */

/* Fresh pages, with the rights that were there. */
static int drop(uintptr_t from, uintptr_t to, int prot)
{
	void *p =
		mmap((void *)from, to - from, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

/* Does this with each part of the range that is adopted. */
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

void uhcav_advice_madvise(void *addr, size_t length, int advice)
{
	uintptr_t mask = 4095;

	__atomic_fetch_add(&heard, 1, __ATOMIC_RELAXED);
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

void uhcav_advice_mremap(void *addr, size_t length)
{
	__atomic_fetch_add(&heard, 1, __ATOMIC_RELAXED);
	each(addr, length, uhcav_make_private);
}

/* Calls that change nothing, as the program would make them. */
bool uhcav_advice_is_heard(void)
{
	size_t length = 4096;
	void *page = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned before = __atomic_load_n(&heard, __ATOMIC_RELAXED), between, after;

	if (page == MAP_FAILED)
		return false;
	madvise(page, length, MADV_NORMAL);
	between = __atomic_load_n(&heard, __ATOMIC_RELAXED);
	page = mremap(page, length, length, 0);
	after = __atomic_load_n(&heard, __ATOMIC_RELAXED);
	munmap(page, length);
	return between != before && after != between;
}
