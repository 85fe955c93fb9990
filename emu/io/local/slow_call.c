/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps requests that call.slow delays, and answers them when their timer expires. */
#include "slow_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void release(struct io_slow_call *call)
{
	ev_timer_stop(call->loop, &call->timer);
	io_fds_close(&call->fds);
	free(call);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct io_slow_call *call = w->data;

	(void)loop;
	(void)revents;
	LIST_REMOVE(call, link);
	call->resume(call->owner, call);
	release(call);
}

int io_slow_call_keep(const struct io_slow_owner *to, const struct io_call_fault *fault,
		      const void *msg, size_t len, struct io_fds *fds)
{
	struct io_slow_call *call = malloc(sizeof(*call) + len);

	if (!call)
		return -ENOMEM;
	call->loop = to->loop;
	call->resume = to->resume;
	call->owner = to->owner;
	call->fault = *fault;
	call->fds = *fds;
	fds->n = 0;
	call->len = len;
	memcpy(call->msg, msg, len);
	ev_now_update(to->loop);
	ev_timer_init(&call->timer, on_timer, (double)fault->delay / 1e9, 0);
	call->timer.data = call;
	ev_timer_start(to->loop, &call->timer);
	LIST_INSERT_HEAD(to->list, call, link);
	return 0;
}

void io_slow_calls_drop(struct io_slow_calls *list)
{
	while (!LIST_EMPTY(list)) {
		struct io_slow_call *call = LIST_FIRST(list);

		LIST_REMOVE(call, link);
		release(call);
	}
}
