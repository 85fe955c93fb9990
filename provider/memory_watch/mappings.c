/* SPDX-License-Identifier: BSD-2-Clause */
/* Hears calls that change mappings of registered memory. See mappings.h. */
#include "mappings.h"

#include "hearing.h"
#include "provider/base/base.h"
#include "provider/pin/pin.h"
#include "ranges.h"

#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

/* In newer headers. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

static int hear_munmap(void *addr, size_t length);
static void *hear_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
static void *hear_mremap(void *addr, size_t old_length, size_t new_length, int flags, ...);
static int hear_madvise(void *addr, size_t length, int advice);
static int hear_malloc_trim(size_t pad);

enum { MUNMAP, MMAP, MMAP64, MREMAP, MADVISE, MALLOC_TRIM };

static struct uhcav_got_call calls[] = {
	[MUNMAP] = {.name = "munmap", .answer = (void *)hear_munmap},
	[MMAP] = {.name = "mmap", .answer = (void *)hear_mmap},
	[MMAP64] = {.name = "mmap64", .answer = (void *)hear_mmap}, /* of the same size here */
	[MREMAP] = {.name = "mremap", .answer = (void *)hear_mremap},
	[MADVISE] = {.name = "madvise", .answer = (void *)hear_madvise},
	[MALLOC_TRIM] = {.name = "malloc_trim", .answer = (void *)hear_malloc_trim},
	{.name = NULL},
};

static int hear_munmap(void *addr, size_t length)
{
	int (*behind)(void *, size_t);
	int err;

	*(void **)&behind = calls[MUNMAP].behind;
	err = behind(addr, length);
	if (!err)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_UNMAPPED, "munmap", addr, length);
	return err;
}

static void *hear_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *(*behind)(void *, size_t, int, int, int, off_t);
	void *p;

	*(void **)&behind = calls[MMAP].behind;
	p = behind(addr, length, prot, flags, fd, offset);
	if (p != MAP_FAILED)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_MAPPED, "mmap", p, length);
	return p;
}

static void *hear_mremap(void *addr, size_t old_length, size_t new_length, int flags, ...)
{
	void *(*behind)(void *, size_t, size_t, int, ...);
	void *to = NULL, *p;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(ap, void *);
	va_end(ap);
	*(void **)&behind = calls[MREMAP].behind;
	p = behind(addr, old_length, new_length, flags, to);
	if (p == MAP_FAILED)
		return p;
	if (p != addr)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_MOVED, "mremap", addr, old_length);
	else if (new_length < old_length)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_UNMAPPED, "mremap",
				     (char *)addr + new_length, old_length - new_length);
	if (p != addr)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_MAPPED, "mremap", p, new_length);
	return p;
}

/* Pages of files that others share stay what they are; those of the arena are the program's own. */
static bool are_dropped(const void *addr, int advice)
{
	struct uhcav_mapping m;

	if (advice != MADV_DONTNEED && advice != MADV_DONTNEED_LOCKED && advice != MADV_FREE &&
	    advice != MADV_REMOVE)
		return false;
	return advice == MADV_REMOVE || uhcav_maps_find((uintptr_t)addr, &m) || !m.shared ||
	       uhcav_arena_has(&m);
}

static int hear_madvise(void *addr, size_t length, int advice)
{
	int (*behind)(void *, size_t, int);
	uintptr_t from = (uintptr_t)addr;
	bool dropped = uhcav_ranges_meet(from, from + length) && are_dropped(addr, advice);
	int err;

	*(void **)&behind = calls[MADVISE].behind;
	err = behind(addr, length, advice);
	if (!err && dropped)
		uhcav_hearing_change(UHCAV_HERE, UHCAV_DROPPED, "madvise", addr, length);
	return err;
}

/* What the C library gives back is what was freed: whole pages of it. */
static int hear_malloc_trim(size_t pad)
{
	int (*behind)(size_t);
	int trimmed;

	*(void **)&behind = calls[MALLOC_TRIM].behind;
	trimmed = behind(pad);
	if (trimmed && uhcav_ranges_any())
		uhcav_ranges_trim("malloc_trim", uhcav_hearing_stack(UHCAV_HERE));
	return trimmed;
}

void uhcav_mappings_listen(void)
{
	uhcav_hearing_listen(calls);
}
