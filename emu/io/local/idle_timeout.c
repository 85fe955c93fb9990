/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts clients, and calls back when none has been there for a time. */
#include "idle_timeout.h"

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct io_idle_timeout *l = w->data;

	(void)loop;
	(void)revents;
	l->over(l);
}

void io_idle_timeout_init(struct io_idle_timeout *l, struct ev_loop *loop, unsigned seconds,
			  void (*over)(struct io_idle_timeout *l))
{
	*l = (struct io_idle_timeout){.loop = loop, .seconds = seconds, .over = over};
	ev_timer_init(&l->timer, on_timer, 0, 0);
	l->timer.data = l;
}

void io_idle_timeout_start(struct io_idle_timeout *l)
{
	io_idle_timeout_stop(l);
	if (l->seconds == 0 || l->present > 0)
		return;
	ev_now_update(l->loop);
	ev_timer_set(&l->timer, l->seconds, 0);
	ev_timer_start(l->loop, &l->timer);
}

void io_idle_timeout_come(struct io_idle_timeout *l)
{
	l->present++;
	io_idle_timeout_stop(l);
}

void io_idle_timeout_go(struct io_idle_timeout *l)
{
	l->present--;
	io_idle_timeout_start(l);
}

void io_idle_timeout_stop(struct io_idle_timeout *l)
{
	ev_timer_stop(l->loop, &l->timer);
}
