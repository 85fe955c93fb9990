/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of connected clients: accepts, finds and removes them. */
#include "clients.h"

#include "drain_doorbells.h"
#include "emu/io/base/base.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

#define SLICE (200 * IO_USEC)
#define STEPS CORE_STEPS_PER_OBJECT /* between two looks at the clock */

void io_clients_add(void *arg, int sock, const struct ucred *peer)
{
	struct io_clients *all = arg;
	struct io_client **list;
	struct io_client *c = io_client_create(all, sock, peer);

	if (!c)
		return;
	list = realloc(all->at, (all->n + 1) * sizeof(struct io_client *));
	if (!list) {
		io_client_destroy(c);
		return;
	}
	all->at = list;
	all->at[all->n++] = c;
	c->id = ++all->last;
	io_idle_timeout_come(all->idle_timeout);
}

/*
 * What a client had is given back to the system by a thread (io_reaper_trim): free(3) itself
 * would do it in one go, which takes milliseconds where it was much.
 */
static void leave_to_thread(void)
{
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

int io_clients_open(struct io_clients *all)
{
	leave_to_thread();
	TAILQ_INIT(&all->leavers);
	return io_active_doorbells_open(&all->active_doorbells);
}

/* What it leaves, before it is freed. True: all of that was said. */
static bool trace_leak(struct io_clients *all, struct io_client *c)
{
	return !c->core || io_tracer_leak(all->tracer, c->dev, c, c->program, &c->leak);
}

bool io_clients_bury(struct io_clients *all)
{
	uint64_t until = io_clock_now() + SLICE;
	struct io_client *c = TAILQ_FIRST(&all->leavers);

	if (!c)
		return false;
	do {
		if (!trace_leak(all, c) || !io_client_end(c, STEPS))
			continue;
		TAILQ_REMOVE(&all->leavers, c, leaving);
		free(c);
		io_idle_timeout_go(all->idle_timeout);
		c = TAILQ_FIRST(&all->leavers);
	} while (c && io_clock_now() < until);
	io_loop_pass_did("the end of a client");
	/* Not only theirs: packets have waited for them. Once for many who end together. */
	if (!c)
		io_reaper_trim();
	io_loop_pass_did("work for a thread");
	return true;
}

void io_clients_remove(struct io_clients *all, struct io_client *c)
{
	unsigned i = 0;

	while (all->at[i] != c)
		i++;
	all->at[i] = all->at[--all->n];
	if (c->core) {
		io_log(IO_LOG_INFO, "client %u: %s closed %s", c->id, c->program, c->dev->id.name);
	}
	io_loop_pass_did("other events");
	io_client_leave(c);
	io_loop_pass_did("a leaving client");
	TAILQ_INSERT_TAIL(&all->leavers, c, leaving);
	io_clients_bury(all);
}

void io_clients_end_lost(struct io_clients *all)
{
	unsigned lost = io_arena_watch_lost();

	if (lost == all->lost)
		return;
	all->lost = lost;
	for (unsigned i = all->n; i-- > 0;) {
		struct io_client *c = all->at[i];

		if (!c->arena.lost)
			continue;
		io_log(IO_LOG_WARN,
		       "client %u: %s: registered pages are no longer in its arena; disconnected",
		       c->id, c->program);
		io_clients_remove(all, c);
	}
}

unsigned io_clients_remove_of(struct io_clients *all, const struct io_device *dev)
{
	unsigned n = 0;

	for (unsigned i = all->n; i-- > 0;) {
		if (all->at[i]->dev != dev)
			continue;
		io_clients_remove(all, all->at[i]);
		n++;
	}
	return n;
}

void io_clients_pause_of(struct io_clients *all, const struct io_device *dev, bool on)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i]->dev == dev)
			io_client_pause(all->at[i], on);
}

void io_clients_close(struct io_clients *all)
{
	/* Who ended just before us may still be here. */
	for (unsigned i = 0; i < all->n; i++)
		io_drain_doorbells(all->at[i]);
	/* First who has left: another's end would free what of theirs is still there (leave.h). */
	while (io_clients_bury(all))
		;
	for (unsigned i = 0; i < all->n; i++)
		io_client_destroy(all->at[i]);
	io_active_doorbells_close(&all->active_doorbells);
	free(all->at);
	all->n = 0;
}
