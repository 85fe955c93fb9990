/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See linger.h.
 */
#include "linger.h"

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct io_linger *l = w->data;

	(void)loop;
	(void)revents;
	l->over(l);
}

void io_linger_init(struct io_linger *l, struct ev_loop *loop, unsigned seconds,
		    void (*over)(struct io_linger *l))
{
	*l = (struct io_linger){.loop = loop, .seconds = seconds, .over = over};
	ev_timer_init(&l->timer, on_timer, 0, 0);
	l->timer.data = l;
}

void io_linger_start(struct io_linger *l)
{
	io_linger_stop(l);
	if (l->seconds == 0 || l->present > 0)
		return;
	ev_now_update(l->loop);
	ev_timer_set(&l->timer, l->seconds, 0);
	ev_timer_start(l->loop, &l->timer);
}

void io_linger_come(struct io_linger *l)
{
	l->present++;
	io_linger_stop(l);
}

void io_linger_go(struct io_linger *l)
{
	l->present--;
	io_linger_start(l);
}

void io_linger_stop(struct io_linger *l)
{
	ev_timer_stop(l->loop, &l->timer);
}
