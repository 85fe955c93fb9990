/* SPDX-License-Identifier: BSD-2-Clause */
/* An epoll set of its own for descriptors that clients share. */
#include "watch.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void fetch(struct io_watches *s)
{
	s->next = 0;
	s->n_batch = epoll_wait(s->fd, s->batch, IO_WATCH_BATCH, 0);
}

/*
 * What is called may stop other watches, and free them. Who is left over when the time is over
 * comes first in the next pass, before others are asked for: nobody is left out.
 */
static void on_ready(struct ev_loop *loop, ev_io *ready, int revents)
{
	struct io_watches *s = ready->data;
	uint64_t end = io_clock_now() + IO_WATCH_TIME;

	(void)loop;
	(void)revents;
	if (s->next >= s->n_batch)
		fetch(s);
	do {
		struct io_watch *w = s->next < s->n_batch ? s->batch[s->next].data.ptr : NULL;

		if (w)
			w->event(w, s->batch[s->next].events);
		s->next++;
	} while (s->next < s->n_batch && io_clock_now() < end);
}

int io_watches_open(struct io_watches *s, struct ev_loop *loop)
{
	*s = (struct io_watches){.loop = loop, .fd = epoll_create1(EPOLL_CLOEXEC)};
	if (s->fd < 0)
		return -errno;
	ev_io_init(&s->ready, on_ready, s->fd, EV_READ);
	s->ready.data = s;
	ev_io_start(loop, &s->ready);
	return 0;
}

void io_watches_close(struct io_watches *s)
{
	if (s->fd < 0)
		return;
	ev_io_stop(s->loop, &s->ready);
	close(s->fd);
	s->fd = -1;
}

static int control(struct io_watch *w, int what, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	return epoll_ctl(w->set->fd, what, w->fd, &e) < 0 ? -errno : 0;
}

int io_watch_start(struct io_watches *s, struct io_watch *w, uint32_t events)
{
	int error;

	w->set = s;
	error = control(w, EPOLL_CTL_ADD, events);
	if (error < 0)
		w->set = NULL;
	return error;
}

void io_watch_change(struct io_watch *w, uint32_t events)
{
	control(w, EPOLL_CTL_MOD, events);
}

void io_watch_stop(struct io_watch *w)
{
	struct io_watches *s = w->set;

	if (!s)
		return;
	control(w, EPOLL_CTL_DEL, 0);
	for (int i = s->next; i < s->n_batch; i++)
		if (s->batch[i].data.ptr == w)
			s->batch[i].data.ptr = NULL;
	w->set = NULL;
}
