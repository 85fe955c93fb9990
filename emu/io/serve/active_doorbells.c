/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See active_doorbells.h. Who is no longer watched is told so before the last look at its page, as
 * a daemon that goes to sleep does it (uhca_ring_fence): the client either sees that it is to
 * ring its active doorbell, or has rung before that look.
 */
#include "active_doorbells.h"

#include "client.h"
#include "emu/io/base/base.h"

#define QUIET (1 * IO_MSEC) /* without a doorbell, before a client is no longer watched */

int io_active_doorbells_open(struct io_active_doorbells *all)
{
	TAILQ_INIT(&all->watched);
	return io_shm_create(&all->shm, "uhca-active-doorbells",
			     sizeof(struct uhca_abi_active_doorbells), false);
}

void io_active_doorbells_close(struct io_active_doorbells *all)
{
	if (all->shm.base)
		io_shm_destroy(&all->shm);
}

static void set_number(const struct io_client *c, uint32_t value)
{
	__atomic_store_n(&c->bell.page->active_number, value, __ATOMIC_RELAXED);
}

static void watch(struct io_active_doorbells *all, struct io_client *c, uint64_t now)
{
	set_number(c, 0);
	c->watched = true;
	c->rang = now;
	TAILQ_INSERT_TAIL(&all->watched, c, look);
	all->n_watched++;
}

static void unwatch(struct io_active_doorbells *all, struct io_client *c)
{
	TAILQ_REMOVE(&all->watched, c, look);
	c->watched = false;
	all->n_watched--;
}

/* The lowest number that is free, or UHCA_ABI_ACTIVE_DOORBELLS. */
static uint32_t find_number(const struct io_active_doorbells *all)
{
	uint32_t n = 0;

	while (n < all->limit && all->at[n])
		n++;
	return n;
}

void io_active_doorbells_add(struct io_active_doorbells *all, struct io_client *c)
{
	c->active_number = find_number(all);
	if (c->active_number < UHCA_ABI_ACTIVE_DOORBELLS)
		all->at[c->active_number] = c;
	if (c->active_number == all->limit && all->limit < UHCA_ABI_ACTIVE_DOORBELLS)
		all->limit++;
	watch(all, c, io_clock_now());
}

void io_active_doorbells_remove(struct io_active_doorbells *all, struct io_client *c)
{
	if (c->watched)
		unwatch(all, c);
	if (c->active_number < UHCA_ABI_ACTIVE_DOORBELLS)
		all->at[c->active_number] = NULL;
	while (all->limit > 0 && !all->at[all->limit - 1])
		all->limit--;
}

/* Unless it has just rung. */
static void leave_alone(struct io_active_doorbells *all, struct io_client *c, uint64_t now)
{
	set_number(c, c->active_number + 1);
	uhca_ring_fence();
	if (io_client_rang(c)) {
		set_number(c, 0);
		c->rang = now;
		return;
	}
	unwatch(all, c);
}

/* Somebody's number may be nobody's, or that of one who is watched. */
static void hear_word(struct io_active_doorbells *all, uint32_t w, uint64_t now)
{
	struct uhca_abi_active_doorbells *page = all->shm.base;
	uint64_t bits = __atomic_exchange_n(&page->word[w], 0, __ATOMIC_ACQUIRE);

	for (; bits; bits &= bits - 1) {
		struct io_client *c = all->at[w * 64 + (uint32_t)__builtin_ctzll(bits)];

		if (c && !c->watched)
			watch(all, c, now);
	}
}

static void hear(struct io_active_doorbells *all, uint64_t now)
{
	struct uhca_abi_active_doorbells *page = all->shm.base;
	uint64_t words;

	if (__atomic_load_n(&page->summary, __ATOMIC_RELAXED) == 0)
		return;
	words = __atomic_exchange_n(&page->summary, 0, __ATOMIC_ACQUIRE);
	for (; words; words &= words - 1)
		hear_word(all, (uint32_t)__builtin_ctzll(words), now);
}

static uint32_t look_at(struct io_active_doorbells *all, struct io_client *c, uint64_t now)
{
	uint32_t n = io_client_doorbells(c, now);

	if (n > 0)
		c->rang = now;
	else if (all->n_watched > IO_ACTIVE_DOORBELLS_KEPT && now > c->rang + QUIET &&
		 c->active_number < UHCA_ABI_ACTIVE_DOORBELLS)
		leave_alone(all, c, now);
	return n;
}

uint32_t io_active_doorbells_look(struct io_active_doorbells *all, uint64_t now)
{
	struct io_client *c, *next, *first = TAILQ_FIRST(&all->watched);
	uint32_t n = 0;

	hear(all, now);
	if (first && TAILQ_NEXT(first, look)) {
		TAILQ_REMOVE(&all->watched, first, look);
		TAILQ_INSERT_TAIL(&all->watched, first, look);
	}
	for (c = TAILQ_FIRST(&all->watched); c; c = next) {
		next = TAILQ_NEXT(c, look);
		n += look_at(all, c, now);
	}
	return n;
}

static bool find_unheard(struct io_active_doorbells *all, uint32_t number, uint64_t now)
{
	struct io_client *c = all->at[number];

	if (!c || c->watched || !io_client_rang(c))
		return false;
	watch(all, c, now);
	return true;
}

void io_active_doorbells_sweep(struct io_active_doorbells *all, uint64_t now)
{
	for (unsigned i = 0; i < IO_ACTIVE_DOORBELLS_SWEPT && i < all->limit; i++) {
		if (all->swept >= all->limit)
			all->swept = 0;
		find_unheard(all, all->swept++, now);
	}
}

bool io_active_doorbells_rang(struct io_active_doorbells *all, uint64_t now)
{
	struct io_client *c;
	bool any = false;

	for (uint32_t i = 0; i < all->limit; i++)
		any |= find_unheard(all, i, now);
	TAILQ_FOREACH(c, &all->watched, look)
	any |= io_client_rang(c);
	return any;
}
