/* SPDX-License-Identifier: BSD-2-Clause */
/* See prompt.h. Who comes last, the thread or the owner, frees it. */
#include "prompt.h"

#include "emu/io/base/base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 5
#define LOOKS   40 /* that find it waiting for a processor */

enum state { IDLE, ASKED, AWAY, ANSWERED };

struct io_prompt {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum state state;
	bool has_thread, closed;
	pid_t tid;
	void (*work)(void *arg);
	_Alignas(16) unsigned char arg[IO_PROMPT_ROOM];
};

struct io_prompt *io_prompt_open(void)
{
	struct io_prompt *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	return p;
}

static void free_prompt(struct io_prompt *p)
{
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The lock is held at its beginning and at its end. */
static void answer(struct io_prompt *p)
{
	p->state = AWAY;
	pthread_mutex_unlock(&p->lock);
	p->work(p->arg);
	pthread_mutex_lock(&p->lock);
	p->state = ANSWERED;
	pthread_cond_broadcast(&p->changed);
}

static void *run(void *arg)
{
	struct io_prompt *p = arg;

	pthread_mutex_lock(&p->lock);
	p->tid = gettid();
	while (!p->closed) {
		if (p->state == ASKED)
			answer(p);
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	p->has_thread = false;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	free_prompt(p);
	return NULL;
}

/* The thread frees it, when it is back. */
void io_prompt_close(struct io_prompt *p)
{
	bool has_thread;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	has_thread = p->has_thread;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (!has_thread)
		free_prompt(p);
}

static bool start_thread(struct io_prompt *p)
{
	if (!p->has_thread)
		p->has_thread = io_thread_start(run, p) == 0;
	return p->has_thread;
}

bool io_prompt_begin(struct io_prompt *p)
{
	bool has_thread;

	pthread_mutex_lock(&p->lock);
	has_thread = start_thread(p);
	pthread_mutex_unlock(&p->lock);
	return has_thread;
}

/*
 * A thread that waits for its processor is no reason to go on without it: only looks count that
 * find it asleep.
 */
static bool wait_for_answer(struct io_prompt *p, unsigned ms)
{
	unsigned asleep = 0;

	for (unsigned n = 0; p->state != ANSWERED && asleep < ms && n < LOOKS + ms / LOOK_MS; n++) {
		const struct timespec at = io_thread_in_ms(LOOK_MS);

		while (p->state != ANSWERED &&
		       pthread_cond_timedwait(&p->changed, &p->lock, &at) == 0)
			;
		if (p->state == AWAY && io_thread_is_asleep(p->tid))
			asleep += LOOK_MS;
	}
	return p->state == ANSWERED;
}

bool io_prompt_ask(struct io_prompt *p, void (*work)(void *arg), void *arg, size_t size,
		   unsigned ms)
{
	bool done = false;

	if (!p || size > IO_PROMPT_ROOM)
		return false;
	pthread_mutex_lock(&p->lock);
	if (p->state != ASKED && p->state != AWAY && start_thread(p)) {
		memcpy(p->arg, arg, size);
		p->work = work;
		p->state = ASKED;
		pthread_cond_broadcast(&p->changed);
		done = wait_for_answer(p, ms);
		if (done)
			memcpy(arg, p->arg, size);
	}
	pthread_mutex_unlock(&p->lock);
	return done;
}
