/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See task.h. What threads and loop share lives as long as one of them has it: a thread that comes
 * back when the set is closed finds nobody to tell.
 */
#include "task.h"

#include "emu/io/base/base.h"
#include "reaper.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <stdlib.h>

struct io_tasks {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	STAILQ_HEAD(, io_task) done; /* for the loop */
	unsigned running;
	struct ev_loop *loop; /* NULL: closed */
	ev_async bell;
};

/*
 * Tasks that came back when their set was closed: nothing frees them, for the process ends. A list
 * has them, so that a tool that looks for lost memory finds whose they are.
 */
static struct {
	pthread_mutex_t lock;
	STAILQ_HEAD(, io_task) list;
} left = {PTHREAD_MUTEX_INITIALIZER, STAILQ_HEAD_INITIALIZER(left.list)};

/* ---- the thread ---- */

static void leave(struct io_task *t)
{
	pthread_mutex_lock(&left.lock);
	STAILQ_INSERT_TAIL(&left.list, t, link);
	pthread_mutex_unlock(&left.lock);
}

static void free_set(struct io_tasks *s)
{
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *run(void *arg)
{
	struct io_task *t = arg;
	struct io_tasks *s = t->set;
	bool last;

	t->work(t);
	pthread_mutex_lock(&s->lock);
	s->running--;
	if (s->loop) {
		STAILQ_INSERT_TAIL(&s->done, t, link);
		ev_async_send(s->loop, &s->bell);
	} else {
		leave(t);
	}
	pthread_cond_signal(&s->ended);
	last = !s->loop && s->running == 0;
	pthread_mutex_unlock(&s->lock);
	if (last)
		free_set(s);
	return NULL;
}

/* ---- the loop ---- */

static struct io_task *take_done(struct io_tasks *s)
{
	struct io_task *t;

	pthread_mutex_lock(&s->lock);
	t = STAILQ_FIRST(&s->done);
	if (t)
		STAILQ_REMOVE_HEAD(&s->done, link);
	pthread_mutex_unlock(&s->lock);
	return t;
}

static void finish_all(struct io_tasks *s)
{
	struct io_task *t;

	while ((t = take_done(s)))
		t->done(t);
	/* free(3) alone gives nothing back (io_reaper_trim). */
	io_reaper_trim();
	io_loop_pass_did("results of threads");
}

static void on_bell(struct ev_loop *loop, ev_async *w, int revents)
{
	(void)loop;
	(void)revents;
	finish_all(w->data);
}

struct io_tasks *io_tasks_open(struct ev_loop *loop)
{
	struct io_tasks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->loop = loop;
	STAILQ_INIT(&s->done);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
	ev_async_init(&s->bell, on_bell);
	s->bell.data = s;
	ev_async_start(loop, &s->bell);
	return s;
}

static void wait_for_all(struct io_tasks *s, unsigned ms)
{
	const struct timespec at = io_thread_in_ms(ms);
	int error = 0;

	pthread_mutex_lock(&s->lock);
	while (s->running > 0 && error == 0)
		error = pthread_cond_timedwait(&s->ended, &s->lock, &at);
	pthread_mutex_unlock(&s->lock);
}

void io_tasks_close(struct io_tasks *s, unsigned ms)
{
	bool last;

	if (!s)
		return;
	wait_for_all(s, ms);
	finish_all(s);
	ev_async_stop(s->loop, &s->bell);
	pthread_mutex_lock(&s->lock);
	s->loop = NULL;
	last = s->running == 0;
	pthread_mutex_unlock(&s->lock);
	if (last)
		free_set(s);
}

int io_task_start(struct io_tasks *s, struct io_task *t)
{
	int error = -EAGAIN;

	if (!s) {
		t->work(t);
		t->done(t);
		return 0;
	}
	t->set = s;
	pthread_mutex_lock(&s->lock);
	if (s->running < IO_TASKS_MAX)
		error = io_thread_start(run, t);
	s->running += error == 0;
	pthread_mutex_unlock(&s->lock);
	return error < 0 ? -EAGAIN : 0;
}
