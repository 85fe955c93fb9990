/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of uhcactl that use files: a thread does the I/O, with a deadline. */
#include "ctl_file_request.h"

#include "ctl_request.h"

#include <stdlib.h>

/* Takes over the line. */
static void reply(struct ctl_file_request *e, char *line, size_t length)
{
	if (e->answer)
		e->answer(e->user, line, length);
	else
		io_reaper_do(free, line);
	e->answer = NULL;
}

static void reply_with(struct ctl_file_request *e, json_t *result, struct ctl_outcome *o)
{
	size_t length = 0;
	char *line = io_ctl_line(result, o, &length);

	reply(e, line, length);
}

/* Behind the work: with what the thread has made, or by "finish". */
static void reply_now(struct ctl_file_request *e)
{
	struct ctl_outcome o = {.error = "no memory"};
	char *line = e->line;

	e->line = NULL;
	if (line)
		reply(e, line, e->length);
	else
		reply_with(e, e->finish(e, &o), &o);
}

static void work(struct io_task *t)
{
	struct ctl_file_request *e = (struct ctl_file_request *)t;

	e->work(e);
}

static void done(struct io_task *t)
{
	struct ctl_file_request *e = (struct ctl_file_request *)t;

	ev_timer_stop(e->services->loop, &e->deadline);
	if (!e->is_late)
		reply_now(e);
	free(e->line); /* nobody waits any more */
	e->line = NULL;
	e->drop(e);
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct ctl_file_request *e = w->data;
	struct ctl_outcome o = {.error = "no memory"};

	(void)loop;
	(void)revents;
	e->is_late = true;
	reply_with(e, e->late(e, &o), &o);
}

static json_t *do_at_once(struct ctl_file_request *e, struct ctl_outcome *o)
{
	json_t *result;

	e->work(e);
	free(e->line);
	e->line = NULL;
	result = e->finish(e, o);
	e->drop(e);
	return result;
}

/* 0 or -EAGAIN. */
static int start(struct ctl_file_request *e)
{
	struct ev_loop *loop = e->services->loop;
	int error;

	e->task = (struct io_task){.work = work, .done = done};
	error = io_task_start(e->services->tasks, &e->task);
	if (error < 0)
		return error;
	ev_now_update(loop);
	ev_timer_init(&e->deadline, on_deadline, e->ms / 1000.0, 0);
	e->deadline.data = e;
	ev_timer_start(loop, &e->deadline);
	return 0;
}

void io_ctl_file_request_go(struct ctl_file_request *e)
{
	if (start(e) == 0)
		return;
	e->work(e);
	reply_now(e);
	e->drop(e);
}

json_t *io_ctl_file_request_start(const struct io_services *h, struct ctl_file_request *e,
				  struct ctl_outcome *o)
{
	e->services = h;
	if (!h->tasks)
		return do_at_once(e, o);
	if (start(e) < 0) {
		e->drop(e);
		return io_ctl_refuse(o, "too many files on unresponsive file systems");
	}
	o->file_request = e;
	return NULL;
}

void io_ctl_file_request_leave(struct ctl_file_request *e)
{
	e->answer = NULL;
}
