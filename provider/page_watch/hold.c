/* SPDX-License-Identifier: BSD-2-Clause */
/* See hold.h. There are as many as requests are outstanding: they are looked through one by one. */
#include "hold.h"

#include "provider/pin/pin.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define ALL (PROT_READ | PROT_WRITE)

/* Mapped when first needed, and brought in by the system as it is used. */
static struct table {
	struct uhcav_hold hold[UHCAV_HOLDS];
	struct uhcav_page_watch_post post[UHCAV_HOLDS];
	uint32_t free[UHCAV_HOLDS]; /* below top */
} * table;
static uint32_t top, n_free;

static bool make_table(void)
{
	void *at;

	if (table)
		return true;
	at = mmap(NULL, sizeof(*table), ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	table = at == MAP_FAILED ? NULL : at;
	return table;
}

uint32_t uhcav_hold_new(uintptr_t from, uintptr_t to, const struct uhcav_page_watch_post *post)
{
	uint32_t i;

	if (!make_table() || (!n_free && top == UHCAV_HOLDS))
		return 0;
	i = n_free ? table->free[--n_free] : top++;
	table->hold[i] = (struct uhcav_hold){from, to, UHCAV_HOLD_NONE};
	table->post[i] = *post;
	return i + 1;
}

void uhcav_hold_free(uint32_t name)
{
	table->free[n_free++] = name - 1;
}

const struct uhcav_hold *uhcav_hold_at(uint32_t name)
{
	return &table->hold[name - 1];
}

const struct uhcav_page_watch_post *uhcav_hold_post(uint32_t name)
{
	return &table->post[name - 1];
}

uint32_t uhcav_hold_meets(uint32_t name, uintptr_t from, uintptr_t to)
{
	for (uint32_t i = name; i < top; i++) {
		const struct uhcav_hold *h = &table->hold[i];
		if (h->kind != UHCAV_HOLD_NONE && h->from < to && from < h->to)
			return i + 1;
	}
	return 0;
}

/* The strongest kind there; *next becomes the nearest place behind it where that may change. */
static enum uhcav_hold_kind strongest(uintptr_t at, uintptr_t *next)
{
	enum uhcav_hold_kind kind = UHCAV_HOLD_NONE;

	for (uint32_t i = 0; i < top; i++) {
		const struct uhcav_hold *h = &table->hold[i];
		uintptr_t edge = h->from > at ? h->from : h->to;

		if (h->kind == UHCAV_HOLD_NONE || edge <= at)
			continue;
		if (edge < *next)
			*next = edge;
		if (h->from <= at && h->kind > kind)
			kind = h->kind;
	}
	return kind;
}

static int protection(enum uhcav_hold_kind kind)
{
	return kind == UHCAV_HOLD_SOURCE ? PROT_READ : kind == UHCAV_HOLD_TARGET ? PROT_NONE : ALL;
}

/* Does the device write there nevertheless? To what others share by its own mapping only. */
static bool is_reached(const struct uhcav_mapping *m, int prot)
{
	return prot != PROT_NONE || !m->shared || uhcav_arena_has(m);
}

/* From one protection to another, where the pages have the former. */
static void protect(uintptr_t from, uintptr_t to, int before, int prot)
{
	struct uhcav_mapping m;

	for (uintptr_t at = from; at < to; at = m.to) {
		int err = uhcav_maps_find(at, &m);
		uintptr_t end = !err && m.to < to ? m.to : to;
		uintptr_t begin = !err && m.from > at ? m.from : at;

		if (err == -ENOENT || (!err && m.from >= to))
			return;
		/* When it cannot be told (no descriptors left), what was closed is opened. */
		if (err ? prot == ALL : m.prot == before && is_reached(&m, prot))
			mprotect((void *)begin, end - begin, prot);
		m.to = end;
	}
}

void uhcav_hold_change(uint32_t name, enum uhcav_hold_kind kind)
{
	struct uhcav_hold *h = &table->hold[name - 1];
	enum uhcav_hold_kind old = h->kind;
	uintptr_t next;

	for (uintptr_t at = h->from; at < h->to; at = next) {
		int before, after;

		next = h->to;
		h->kind = old;
		before = protection(strongest(at, &next));
		h->kind = kind;
		after = protection(strongest(at, &next));
		if (before != after)
			protect(at, next, before, after);
	}
	h->kind = kind;
}

void uhcav_holds_end(void)
{
	for (uint32_t i = 0; i < top; i++)
		if (table->hold[i].kind != UHCAV_HOLD_NONE)
			uhcav_hold_change(i + 1, UHCAV_HOLD_NONE);
}

bool uhcav_hold_is_allowed(uintptr_t at, bool write)
{
	struct uhcav_mapping m;

	return !uhcav_maps_find(at, &m) && m.from <= at &&
	       (m.prot & (write ? PROT_WRITE : PROT_READ));
}
