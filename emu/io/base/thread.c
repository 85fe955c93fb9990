/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts threads with signals blocked, and joins them. */
#include "thread.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define STACK (256u << 10)

struct thread {
	LIST_ENTRY(thread) link;
	pthread_t id;
	void *(*run)(void *arg);
	void *arg;
	bool ended;
};

/* Threads that were not joined yet. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	LIST_HEAD(, thread) list;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *begin(void *arg)
{
	struct thread *t = arg;

	t->run(t->arg);
	pthread_mutex_lock(&all.lock);
	t->ended = true;
	pthread_cond_broadcast(&all.changed);
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* Joins those that have ended, without waiting for one. The lock is held. */
static void join_ended(void)
{
	struct thread *next;

	for (struct thread *t = LIST_FIRST(&all.list); t; t = next) {
		next = LIST_NEXT(t, link);
		if (!t->ended || pthread_tryjoin_np(t->id, NULL))
			continue;
		LIST_REMOVE(t, link);
		free(t);
	}
}

int io_thread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg)
{
	sigset_t every, before;
	int error;

	sigfillset(&every);
	sigdelset(&every, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	error = pthread_create(id, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

/* The lock is held. */
static int create(struct thread *t)
{
	pthread_attr_t attr;
	int error;

	if (pthread_attr_init(&attr))
		return -ENOMEM;
	pthread_attr_setstacksize(&attr, STACK);
	error = io_thread_create(&t->id, &attr, begin, t);
	pthread_attr_destroy(&attr);
	if (error == 0)
		LIST_INSERT_HEAD(&all.list, t, link);
	return error;
}

int io_thread_start(void *(*run)(void *arg), void *arg)
{
	struct thread *t = malloc(sizeof(*t));
	int error;

	if (!t)
		return -ENOMEM;
	*t = (struct thread){.run = run, .arg = arg};
	pthread_mutex_lock(&all.lock);
	join_ended();
	error = create(t);
	pthread_mutex_unlock(&all.lock);
	if (error < 0)
		free(t);
	return error;
}

/* The lock is held. */
static bool all_ended(void)
{
	const struct thread *t;

	LIST_FOREACH(t, &all.list, link)
	if (!t->ended)
		return false;
	return true;
}

bool io_thread_join_all(unsigned ms)
{
	const struct timespec at = io_thread_in_ms(ms);
	struct thread *t;
	int error = 0;
	bool ok;

	pthread_mutex_lock(&all.lock);
	while (!all_ended() && error == 0)
		error = pthread_cond_timedwait(&all.changed, &all.lock, &at);
	ok = all_ended();
	while (ok && (t = LIST_FIRST(&all.list))) {
		LIST_REMOVE(t, link);
		pthread_mutex_unlock(&all.lock);
		pthread_join(t->id, NULL);
		free(t);
		pthread_mutex_lock(&all.lock);
	}
	pthread_mutex_unlock(&all.lock);
	return ok;
}

bool io_thread_is_asleep(pid_t tid)
{
	char path[40], text[128] = "";
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return !end || end[1] != ' ' || end[2] != 'R';
}

struct timespec io_thread_in_ms(unsigned ms)
{
	uint64_t at = io_clock_wall() + ms * IO_MSEC;

	return (struct timespec){.tv_sec = (time_t)(at / IO_SEC), .tv_nsec = (long)(at % IO_SEC)};
}
