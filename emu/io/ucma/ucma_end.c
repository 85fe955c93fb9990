/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of what programs had of the rdma_cm device, in parts (design D16): a closed file has as
 * many ids as its process could make, a listener as many requests as wait for it. Peers are told in
 * the same parts. A port of an id that is to end is free for who asks for it (ucma_port.c).
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <stdlib.h>

#define SLICE (200 * IO_USEC)

static void free_file(struct ucma_file *f)
{
	struct io_ucma *u = f->ucma;

	TAILQ_REMOVE(&u->ending, f, link);
	ucma_owner_put(f->owner);
	free(f);
	io_idle_timeout_go(u->env.idle_timeout);
}

/* The next id, or file. False: there is none. */
static bool end_next(struct io_ucma *u)
{
	struct ucma_file *f = TAILQ_FIRST(&u->ending);

	if (!LIST_EMPTY(&u->grave->ids))
		ucma_id_destroy(LIST_FIRST(&u->grave->ids));
	else if (f && !LIST_EMPTY(&f->ids))
		ucma_id_destroy(LIST_FIRST(&f->ids));
	else if (f)
		free_file(f);
	else
		return false;
	return true;
}

static void end_some(struct ev_loop *loop, ev_idle *w, int revents)
{
	struct io_ucma *u = w->data;
	uint64_t until = io_clock_now() + SLICE;
	bool more;

	(void)loop;
	(void)revents;
	do
		more = end_next(u);
	while (more && io_clock_now() < until);
	ucma_wake_devices(u);
	io_loop_pass_did("cleanup of rdma_cm ids");
	if (more)
		return;
	ev_idle_stop(u->env.loop, &u->end);
	io_reaper_trim();
}

static void begin(struct io_ucma *u)
{
	if (ev_is_active(&u->end))
		return;
	ev_idle_init(&u->end, end_some);
	ev_set_priority(&u->end, EV_MAXPRI); /* whatever else comes */
	u->end.data = u;
	ev_idle_start(u->env.loop, &u->end);
}

void ucma_file_end(struct ucma_file *f)
{
	struct io_ucma *u = f->ucma;

	io_slow_calls_drop(&f->slow);
	io_watch_stop(&f->readable);
	io_reaper_hang_up(f->sock);
	f->sock = -1;
	f->ending = true;
	TAILQ_REMOVE(&u->files, f, link);
	u->n_files--;
	TAILQ_INSERT_TAIL(&u->ending, f, link);
	begin(u);
	end_some(u->env.loop, &u->end, 0);
}

void ucma_id_end_later(struct ucma_id *id)
{
	struct io_ucma *u = id->file->ucma;

	LIST_REMOVE(id, of_file);
	id->file = u->grave;
	LIST_INSERT_HEAD(&u->grave->ids, id, of_file);
	begin(u);
}

void ucma_end_all(struct io_ucma *u)
{
	while (end_next(u))
		;
	if (ev_is_active(&u->end))
		ev_idle_stop(u->env.loop, &u->end);
}
