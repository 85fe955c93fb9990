/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See heap.h. What is freed matters where a region or a wr_id is; what is given out, where a region
 * has freed memory. Whose allocator it is, is not asked: its malloc_usable_size(3) says how long a
 * piece is.
 */
#include "heap.h"

#include "frees.h"
#include "hearing.h"
#include "provider/gone/gone.h"
#include "quarantine.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

static void *hear_malloc(size_t size);
static void *hear_calloc(size_t n, size_t size);
static void *hear_realloc(void *p, size_t size);
static void hear_free(void *p);
static int hear_posix_memalign(void **out, size_t align, size_t size);
static void *hear_aligned_alloc(size_t align, size_t size);
static void *hear_memalign(size_t align, size_t size);
static void *hear_valloc(size_t size);

enum { MALLOC, CALLOC, REALLOC, FREE, POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN, VALLOC };

static struct uhcav_got_call calls[] = {
	[MALLOC] = {.name = "malloc", .answer = (void *)hear_malloc},
	[CALLOC] = {.name = "calloc", .answer = (void *)hear_calloc},
	[REALLOC] = {.name = "realloc", .answer = (void *)hear_realloc},
	[FREE] = {.name = "free", .answer = (void *)hear_free},
	[POSIX_MEMALIGN] = {.name = "posix_memalign", .answer = (void *)hear_posix_memalign},
	[ALIGNED_ALLOC] = {.name = "aligned_alloc", .answer = (void *)hear_aligned_alloc},
	[MEMALIGN] = {.name = "memalign", .answer = (void *)hear_memalign},
	[VALLOC] = {.name = "valloc", .answer = (void *)hear_valloc},
	{.name = NULL},
};

static size_t (*usable_size)(void *p);

/* It was given out: nothing of it is freed. */
static void *given(void *p, size_t size)
{
	int saved = errno;

	if (p && uhcav_ranges_any())
		uhcav_ranges_alive((uintptr_t)p, (uintptr_t)p + (size ? size : 1));
	errno = saved;
	return p;
}

static void *hear_malloc(size_t size)
{
	void *(*behind)(size_t);

	*(void **)&behind = calls[MALLOC].behind;
	return given(behind(size), size);
}

static void *hear_calloc(size_t n, size_t size)
{
	void *(*behind)(size_t, size_t);

	*(void **)&behind = calls[CALLOC].behind;
	return given(behind(n, size), n * size);
}

static int hear_posix_memalign(void **out, size_t align, size_t size)
{
	int (*behind)(void **, size_t, size_t);
	int err;

	*(void **)&behind = calls[POSIX_MEMALIGN].behind;
	err = behind(out, align, size);
	if (!err)
		given(*out, size);
	return err;
}

static void *hear_aligned_alloc(size_t align, size_t size)
{
	void *(*behind)(size_t, size_t);

	*(void **)&behind = calls[ALIGNED_ALLOC].behind;
	return given(behind(align, size), size);
}

static void *hear_memalign(size_t align, size_t size)
{
	void *(*behind)(size_t, size_t);

	*(void **)&behind = calls[MEMALIGN].behind;
	return given(behind(align, size), size);
}

static void *hear_valloc(size_t size)
{
	void *(*behind)(size_t);

	*(void **)&behind = calls[VALLOC].behind;
	return given(behind(size), size);
}

/* ---- what is freed ---- */

struct piece {
	uintptr_t from, to;
	bool in_range, in_use; /* of a region; of a wr_id */
};

static struct piece piece_of(void *p)
{
	struct piece piece = {.from = (uintptr_t)p};

	if (!p)
		return piece;
	piece.to = piece.from + usable_size(p);
	piece.in_use = uhcav_frees_wanted(piece.from, piece.to);
	piece.in_range = uhcav_ranges_meet(piece.from, piece.to);
	return piece;
}

/* The allocator may have given it to the system at once: then nothing is there. */
static bool is_unmapped(uintptr_t at)
{
	unsigned char resident;

	return mincore((void *)(at & ~(uintptr_t)4095), 1, &resident) && errno == ENOMEM;
}

/* Before it happens: when it has, it may be given out again at once. */
static void freeing(const struct piece *piece, const struct uhcav_stack *stack, const char *call)
{
	if (piece->in_range)
		uhcav_ranges_change(&(struct uhcav_change){.kind = UHCAV_FREED,
							   .call = call,
							   .from = piece->from,
							   .to = piece->to,
							   .stack = stack});
}

static void freed(const struct piece *piece, const struct uhcav_stack *stack, const char *call)
{
	if (piece->in_use)
		uhcav_frees_note(piece->from, piece->to, stack);
	if (piece->in_range && (is_unmapped(piece->from) || is_unmapped(piece->to - 1)))
		uhcav_ranges_change(&(struct uhcav_change){.kind = UHCAV_UNMAPPED,
							   .call = call,
							   .from = piece->from,
							   .to = piece->to,
							   .stack = stack});
}

static void hear_free(void *p)
{
	void (*behind)(void *);
	const struct piece piece = piece_of(p);
	const struct uhcav_stack *stack = NULL;
	int saved = errno;

	*(void **)&behind = calls[FREE].behind;
	if (p && p == uhcav_keeping_next) {
		uhcav_keeping_next = NULL;
		uhcav_keeping_take(p, behind);
		return;
	}
	if (piece.in_range || piece.in_use)
		stack = uhcav_hearing_stack(UHCAV_HERE);
	freeing(&piece, stack, "free");
	if (!piece.in_range || !uhcav_quarantine_take(p, piece.to - piece.from, stack, behind)) {
		behind(p);
		freed(&piece, stack, "free");
	} else if (piece.in_use) {
		uhcav_frees_note(piece.from, piece.to, stack);
	}
	errno = saved;
}

static void *move(struct uhcav_here here, const struct piece *piece, void *p, size_t size)
{
	void *(*behind)(void *, size_t);
	const struct uhcav_stack *stack = uhcav_hearing_stack(here);
	void *to;

	*(void **)&behind = calls[REALLOC].behind;
	freeing(piece, stack, "realloc");
	to = behind(p, size);
	if (to == p || (!to && size))
		uhcav_ranges_alive(piece->from, piece->to);
	else
		freed(piece, stack, "realloc");
	return to;
}

static void *hear_realloc(void *p, size_t size)
{
	void *(*behind)(void *, size_t);
	const struct piece piece = piece_of(p);

	*(void **)&behind = calls[REALLOC].behind;
	if (piece.in_range || piece.in_use)
		return given(move(UHCAV_HERE, &piece, p, size), size);
	return given(behind(p, size), size);
}

void uhcav_heap_listen(void)
{
	if (!usable_size)
		*(void **)&usable_size = dlsym(RTLD_DEFAULT, "malloc_usable_size");
	if (usable_size)
		uhcav_hearing_listen(calls);
}
