/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ranges.h. Under the lock nothing is called that could allocate: a call of an allocator may
 * wait for it.
 */
#include "ranges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/queue.h>

#define PAGE ((uintptr_t)4096)

struct entry {
	LIST_ENTRY(entry) link;
	struct uhcav_range r;
};

pthread_mutex_t uhcav_ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, entry) all = LIST_HEAD_INITIALIZER(all);
/* All ranges lie in there; it only grows. And how many have changes, and changes to be told. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;
static atomic_uint n_changed, n_open;

static bool is_open(const struct uhcav_range *r, const struct uhcav_change *c)
{
	return r->is_remote && !c->reported &&
	       (c->kind == UHCAV_MAPPED || c->kind == UHCAV_DROPPED);
}

/* Counts what a range has, or has no longer. */
static void count(const struct uhcav_range *r, int by)
{
	unsigned open = 0;

	for (unsigned i = 0; i < r->n; i++)
		open += is_open(r, &r->changes[i]);
	atomic_fetch_add(&n_changed, (unsigned)(by * (r->n != 0)));
	atomic_fetch_add(&n_open, (unsigned)(by * (int)open));
}

void uhcav_range_add(const struct uhcav_range *r)
{
	struct entry *e = malloc(sizeof(*e));

	if (!e)
		return;
	e->r = *r;
	pthread_mutex_lock(&uhcav_ranges_lock);
	if (r->from < atomic_load(&lowest))
		atomic_store(&lowest, r->from);
	if (r->to > atomic_load(&highest))
		atomic_store(&highest, r->to);
	LIST_INSERT_HEAD(&all, e, link);
	pthread_mutex_unlock(&uhcav_ranges_lock);
}

static struct entry *find_range(const void *mr)
{
	struct entry *e;

	LIST_FOREACH(e, &all, link)
	if (e->r.mr == mr)
		return e;
	return NULL;
}

void uhcav_range_remove(const void *mr)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_ranges_lock);
	e = find_range(mr);
	if (e) {
		count(&e->r, -1);
		LIST_REMOVE(e, link);
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
	free(e);
}

static bool is_near(uintptr_t from, uintptr_t to)
{
	return from < atomic_load_explicit(&highest, memory_order_relaxed) &&
	       to > atomic_load_explicit(&lowest, memory_order_relaxed);
}

bool uhcav_ranges_meet(uintptr_t from, uintptr_t to)
{
	struct entry *e;

	if (!is_near(from, to))
		return false;
	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	if (e->r.from < to && from < e->r.to)
		break;
	pthread_mutex_unlock(&uhcav_ranges_lock);
	return e;
}

bool uhcav_ranges_target(uintptr_t from, uintptr_t to, struct uhcav_range *out)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	if (e->r.is_target && e->r.from < to && from < e->r.to)
		break;
	if (e)
		*out = e->r;
	pthread_mutex_unlock(&uhcav_ranges_lock);
	return e;
}

/* The oldest makes room. */
static void put_change(struct uhcav_range *r, const struct uhcav_change *c)
{
	if (r->n == UHCAV_RANGE_CHANGES) {
		for (unsigned i = 1; i < r->n; i++)
			r->changes[i - 1] = r->changes[i];
		r->n--;
	}
	r->changes[r->n++] = *c;
}

void uhcav_ranges_change(const struct uhcav_change *c)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	{
		if (e->r.from >= c->to || c->from >= e->r.to)
			continue;
		count(&e->r, -1);
		put_change(&e->r, c);
		count(&e->r, 1);
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
}

/* Takes out what was freed there. */
static void revive(struct uhcav_range *r, uintptr_t from, uintptr_t to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		const struct uhcav_change *c = &r->changes[i];
		if (c->kind != UHCAV_FREED || c->from >= to || from >= c->to)
			r->changes[n++] = *c;
	}
	r->n = n;
}

void uhcav_ranges_alive(uintptr_t from, uintptr_t to)
{
	struct entry *e;

	if (!uhcav_ranges_any() || !is_near(from, to))
		return;
	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	{
		if (e->r.from >= to || from >= e->r.to)
			continue;
		count(&e->r, -1);
		revive(&e->r, from, to);
		count(&e->r, 1);
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
}

static void trim(struct uhcav_range *r, const char *call, const struct uhcav_stack *stack)
{
	const struct uhcav_range before = *r;

	for (unsigned i = 0; i < before.n; i++) {
		const struct uhcav_change *c = &before.changes[i];
		struct uhcav_change dropped = {.kind = UHCAV_DROPPED,
					       .call = call,
					       .from = (c->from + PAGE - 1) & ~(PAGE - 1),
					       .to = c->to & ~(PAGE - 1),
					       .stack = stack};
		if (c->kind == UHCAV_FREED && dropped.from < dropped.to)
			put_change(r, &dropped);
	}
}

void uhcav_ranges_trim(const char *call, const struct uhcav_stack *stack)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	{
		count(&e->r, -1);
		trim(&e->r, call, stack);
		count(&e->r, 1);
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
}

bool uhcav_ranges_any(void)
{
	return atomic_load_explicit(&n_changed, memory_order_relaxed) != 0;
}

bool uhcav_ranges_look(const void *mr, uint64_t at, uint64_t length, struct uhcav_change *out)
{
	const struct entry *e;
	bool found = false;

	if (!uhcav_ranges_any())
		return false;
	pthread_mutex_lock(&uhcav_ranges_lock);
	e = find_range(mr);
	for (unsigned i = e ? e->r.n : 0; i-- && !found;) {
		const struct uhcav_change *c = &e->r.changes[i];
		found = c->from < at + length && at < c->to;
		if (found)
			*out = *c;
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
	return found;
}

bool uhcav_ranges_take(struct uhcav_range *r, struct uhcav_change *c)
{
	struct entry *e;
	bool found = false;

	if (!atomic_load_explicit(&n_open, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&uhcav_ranges_lock);
	LIST_FOREACH(e, &all, link)
	{
		for (unsigned i = 0; i < e->r.n && !found; i++) {
			found = is_open(&e->r, &e->r.changes[i]);
			if (!found)
				continue;
			*r = e->r;
			*c = e->r.changes[i];
			e->r.changes[i].reported = true;
			atomic_fetch_sub(&n_open, 1);
		}
		if (found)
			break;
	}
	pthread_mutex_unlock(&uhcav_ranges_lock);
	return found;
}
