/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See frees.h. Counters by the hash of an address, and a ring of what was freed: no locks, because
 * free(3) is called in the midst of anything. An entry is written between two changes of its
 * number.
 */
#include "frees.h"

#include <stdatomic.h>
#include <stddef.h>

#define GRAIN       64u
#define COUNTERS    65536u
#define RING        1024u
#define POINTER_MIN 65536u /* a process has nothing there (vm.mmap_min_addr) */
#define MOST_GRAINS 64u    /* of one free: longer ones are looked at as a whole */

struct note {
	_Atomic uint64_t number; /* 0: being written; else 1 more than that of its place in time */
	_Atomic uintptr_t from, to;
	const struct uhcav_stack *_Atomic stack;
};

static _Atomic uint16_t counters[COUNTERS];
static atomic_uint pointers;
static struct note ring[RING];
static _Atomic uint64_t now;

static _Atomic uint16_t *counter_of(uint64_t at)
{
	return &counters[(at / GRAIN * 0x9e3779b97f4a7c15ull) >> 48];
}

void uhcav_frees_watch(uint64_t wr_id)
{
	if (wr_id < POINTER_MIN)
		return;
	atomic_fetch_add_explicit(counter_of(wr_id), 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&pointers, 1, memory_order_relaxed);
}

void uhcav_frees_unwatch(uint64_t wr_id)
{
	if (wr_id < POINTER_MIN)
		return;
	atomic_fetch_sub_explicit(counter_of(wr_id), 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&pointers, 1, memory_order_relaxed);
}

bool uhcav_frees_wanted(uintptr_t from, uintptr_t to)
{
	if (!atomic_load_explicit(&pointers, memory_order_relaxed))
		return false;
	if ((to - from) / GRAIN > MOST_GRAINS)
		return true;
	for (uintptr_t at = from; at < to + GRAIN - 1; at += GRAIN)
		if (atomic_load_explicit(counter_of(at < to ? at : to - 1), memory_order_relaxed))
			return true;
	return false;
}

void uhcav_frees_note(uintptr_t from, uintptr_t to, const struct uhcav_stack *stack)
{
	uint64_t number = atomic_fetch_add(&now, 1);
	struct note *n = &ring[number % RING];

	atomic_store(&n->number, 0);
	atomic_store(&n->from, from);
	atomic_store(&n->to, to);
	atomic_store(&n->stack, stack);
	atomic_store(&n->number, number + 1);
}

uint64_t uhcav_frees_now(void)
{
	return atomic_load_explicit(&now, memory_order_relaxed);
}

static bool is_in(const struct note *n, uint64_t number, uint64_t at,
		  const struct uhcav_stack **stack)
{
	bool in = atomic_load(&n->number) == number + 1 && atomic_load(&n->from) <= at &&
		  at < atomic_load(&n->to);

	*stack = atomic_load(&n->stack);
	return in && atomic_load(&n->number) == number + 1;
}

const struct uhcav_stack *uhcav_frees_find(uint64_t wr_id, uint64_t since)
{
	uint64_t end = atomic_load(&now);
	const struct uhcav_stack *stack;

	if (wr_id < POINTER_MIN)
		return NULL;
	for (uint64_t i = end; i > since && end - i < RING; i--)
		if (is_in(&ring[(i - 1) % RING], i - 1, wr_id, &stack))
			return stack;
	return NULL;
}
