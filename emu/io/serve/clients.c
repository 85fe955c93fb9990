/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See clients.h.
 */
#include "clients.h"

#include "catch_up.h"
#include "emu/io/base/base.h"

#include <stdlib.h>

#define SLICE (200 * IO_USEC)
#define STEPS (4 * CORE_STEPS_PER_OBJECT) /* between two looks at the clock */

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
	io_linger_come(all->linger);
}

int io_clients_open(struct io_clients *all)
{
	TAILQ_INIT(&all->leavers);
	return io_callers_open(&all->callers);
}

bool io_clients_bury(struct io_clients *all)
{
	uint64_t until = io_clock_now() + SLICE;
	struct io_client *c = TAILQ_FIRST(&all->leavers);

	if (!c)
		return false;
	do {
		if (!io_client_end(c, STEPS))
			continue;
		TAILQ_REMOVE(&all->leavers, c, leaving);
		io_client_free(c);
		io_linger_go(all->linger);
		c = TAILQ_FIRST(&all->leavers);
	} while (c && io_clock_now() < until);
	return true;
}

void io_clients_remove(struct io_clients *all, struct io_client *c)
{
	unsigned i = 0;

	while (all->at[i] != c)
		i++;
	all->at[i] = all->at[--all->n];
	if (c->core) {
		io_log(IO_LOG_INFO, "client %u: %s has left %s", c->id, c->program,
		       c->dev->id.name);
		io_teller_leak(all->teller, c->dev, c, c->program);
	}
	io_client_leave(c);
	TAILQ_INSERT_TAIL(&all->leavers, c, leaving);
	io_clients_bury(all);
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

void io_clients_close(struct io_clients *all)
{
	/* Who ended just before us may still be here. */
	for (unsigned i = 0; i < all->n; i++)
		io_catch_up(all->at[i]);
	/* First who has left: another's end would free what of theirs is still there (leave.h). */
	while (io_clients_bury(all))
		;
	for (unsigned i = 0; i < all->n; i++)
		io_client_destroy(all->at[i]);
	io_callers_close(&all->callers);
	free(all->at);
	all->n = 0;
}
