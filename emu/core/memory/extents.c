/* SPDX-License-Identifier: BSD-2-Clause */
/* See extents.h. There are few, and those that matter are large: they are looked at in turn. */
#include "extents.h"

#include <errno.h>
#include <stdlib.h>

/* Two that are neighbours may share a window, and each may reach over all of them. */
#define PARTS (UHCA_ABI_EXTENTS + CORE_ARENA_WINDOWS)

static uint64_t window_of(uint64_t offset)
{
	return offset / CORE_ARENA_WINDOW;
}

/* Inside [from, end), and inside windows of the arena. */
static bool is_right(const struct core_arena *a, const struct uhca_abi_extent *e, uint64_t from,
		     uint64_t end)
{
	if (e->length == 0 || e->addr < from || e->addr > end || e->length > end - e->addr)
		return false;
	if (!a || e->offset > a->size || e->length > a->size - e->offset)
		return false;
	for (uint64_t w = window_of(e->offset); w <= window_of(e->offset + e->length - 1); w++)
		if (!a->window[w])
			return false;
	return true;
}

/* How many parts they are, each in one window; -EINVAL. */
static int count_parts(const struct client *c, const struct uhca_cmd_reg_pinned_mr *in)
{
	uint64_t from = in->mr.addr, end, n = 0;

	if (in->n_extents == 0 || in->n_extents > UHCA_ABI_EXTENTS || in->reserved ||
	    __builtin_add_overflow(in->mr.addr, in->mr.length, &end))
		return -EINVAL; /* no library of ours */
	for (uint32_t i = 0; i < in->n_extents; i++) {
		const struct uhca_abi_extent *e = &in->extent[i];

		if (!is_right(c->arena, e, from, end))
			return -EINVAL; /* no library of ours */
		from = e->addr + e->length;
		n += 1 + window_of(e->offset + e->length - 1) - window_of(e->offset);
	}
	return (int)n; /* 32 of 64 windows at the most */
}

static void add_parts(struct extents *x, const struct core_arena *a, struct uhca_abi_extent e)
{
	while (e.length > 0) {
		uint64_t in = e.offset % CORE_ARENA_WINDOW, n = CORE_ARENA_WINDOW - in;

		if (n > e.length)
			n = e.length;
		x->extent[x->n++] = (struct extent){e.addr, n, a->window[window_of(e.offset)] + in};
		e = (struct uhca_abi_extent){e.addr + n, e.length - n, e.offset + n};
	}
}

int extents_make(const struct client *c, const struct uhca_cmd_reg_pinned_mr *in,
		 const struct page_array *pages, struct extents **out)
{
	int n = count_parts(c, in);
	struct extents *x;

	if (n < 0)
		return n;
	if ((unsigned)n > PARTS)
		return -ENOSPC;
	if (!client_has_room(c, sizeof(*x) + (unsigned)n * sizeof(x->extent[0])))
		return device_refuse(c->dev, -ENOMEM, "limit client_memory is reached");
	x = malloc(sizeof(*x) + (unsigned)n * sizeof(x->extent[0]));
	if (!x)
		return -ENOMEM;
	x->from = in->mr.addr;
	x->pages = pages;
	x->n = 0;
	for (uint32_t i = 0; i < in->n_extents; i++)
		add_parts(x, c->arena, in->extent[i]);
	*out = x;
	return 0;
}

uint64_t extents_cost(const struct extents *x)
{
	return x ? sizeof(*x) + x->n * sizeof(x->extent[0]) : 0;
}

uint64_t extents_bytes(const struct extents *x)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; x && i < x->n; i++)
		bytes += x->extent[i].length;
	return bytes;
}

bool extents_find_address(const struct extents *x, uint64_t at, uint64_t *addr)
{
	for (uint32_t i = 0; x && i < x->n; i++) {
		uint64_t in = at - (uintptr_t)x->extent[i].at;

		if (in < x->extent[i].length) {
			*addr = x->extent[i].addr + in;
			return true;
		}
	}
	return false;
}

/* The first extent that does not end before this address; NULL behind the last. */
static const struct extent *extent_find(const struct extents *x, uint64_t addr)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (addr - x->extent[i].addr < x->extent[i].length || addr < x->extent[i].addr)
			return &x->extent[i];
	return NULL;
}

const struct extent *extents_of(const struct extents *x, uint64_t addr)
{
	const struct extent *e = extent_find(x, addr);

	return e && addr >= e->addr ? e : NULL;
}

static uint32_t at_most(uint64_t bytes, uint32_t limit)
{
	return bytes < limit ? (uint32_t)bytes : limit;
}

unsigned extents_walk(const struct extents *x, uint64_t offset, uint32_t length,
		      struct core_span *out, unsigned max, uint32_t *walked)
{
	uint32_t done = 0;
	unsigned n = 0;

	while (done < length && n < max) {
		uint64_t at = x->from + offset + done;
		const struct extent *e = extent_find(x, at);
		uint32_t part = length - done, got;

		if (e && at >= e->addr) {
			got = part = at_most(e->addr + e->length - at, part);
			out[n++] = (struct core_span){(uintptr_t)e->at + (at - e->addr), part,
						      CORE_SPACE_DEVICE};
		} else {
			part = e ? at_most(e->addr - at, part) : part;
			n += page_array_walk(x->pages, offset + done, part, out + n, max - n, &got);
		}
		done += got;
		if (got < part)
			break;
	}
	*walked = done;
	return n;
}
