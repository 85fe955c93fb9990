/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See page_worker.h. A thread that waits for its processor is no reason to go on without it: what a
 * busy machine delays has not failed. So only looks count that find it asleep.
 */
#include "page_worker.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS 5
#define ASLEEP  2  /* looks that find it so */
#define LOOKS   40 /* in all */

struct io_file_request {
	const struct io_file_request_plan *plan;
	void *arg;
	int result;
	pid_t tid; /* of who does it; 0: not begun */
	bool done;
	bool left;     /* nobody waits for it */
	bool orphaned; /* nor asks: it is freed by who does it */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t back;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .back = PTHREAD_COND_INITIALIZER};

static void release(struct io_file_request *e)
{
	if (e->left)
		e->plan->drop(e->arg);
	free(e);
}

/* The thread's. What nobody waits for any more is not begun: its client may have gone. */
static void run(void *arg)
{
	struct io_file_request *e = arg;
	bool begins, orphaned;
	int result = -ESRCH;

	pthread_mutex_lock(&all.lock);
	begins = !e->left;
	e->tid = gettid();
	pthread_mutex_unlock(&all.lock);
	if (begins)
		result = e->plan->work(e->arg);
	pthread_mutex_lock(&all.lock);
	e->result = result;
	e->done = true;
	orphaned = e->orphaned;
	pthread_cond_broadcast(&all.back);
	pthread_mutex_unlock(&all.lock);
	if (orphaned)
		release(e);
}

/* Leaves it when it does not come. The lock is held. */
static void wait_for(struct io_file_request *e)
{
	unsigned asleep = 0;

	for (unsigned looks = 0; !e->done && asleep < ASLEEP && looks < LOOKS; looks++) {
		struct timespec end = io_thread_in_ms(LOOK_MS);

		while (!e->done && pthread_cond_timedwait(&all.back, &all.lock, &end) == 0)
			;
		asleep += !e->done && e->tid && io_thread_is_asleep(e->tid);
	}
	e->left = !e->done;
}

int io_page_worker_send(struct io_page_worker *p, const struct io_file_request_plan *plan,
			void *arg)
{
	struct io_file_request *e = calloc(1, sizeof(*e));
	int result;

	if (!e)
		return plan->work(arg);
	e->plan = plan;
	e->arg = arg;
	io_reaper_do(run, e);
	pthread_mutex_lock(&all.lock);
	wait_for(e);
	pthread_mutex_unlock(&all.lock);
	if (e->left) {
		p->out = e;
		return -ESRCH;
	}
	result = e->result;
	release(e);
	return result;
}

static bool is_done(const struct io_file_request *e)
{
	bool done;

	pthread_mutex_lock(&all.lock);
	done = e->done;
	pthread_mutex_unlock(&all.lock);
	return done;
}

bool io_page_worker_is_back(struct io_page_worker *p)
{
	if (!p->out)
		return true;
	if (!is_done(p->out))
		return false;
	release(p->out);
	p->out = NULL;
	return true;
}

void io_page_worker_end(struct io_page_worker *p)
{
	struct io_file_request *e = p->out;
	bool done;

	if (!e)
		return;
	p->out = NULL;
	pthread_mutex_lock(&all.lock);
	done = e->done;
	e->orphaned = !done;
	pthread_mutex_unlock(&all.lock);
	if (done)
		release(e);
}
