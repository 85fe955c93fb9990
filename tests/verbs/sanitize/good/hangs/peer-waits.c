/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void wait_for(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

/* One end answers what it gets. */
static void *answer(void *arg)
{
	struct end *e = arg;

	pair_recv(e, 1, 0, 64);
	wait_for(e);
	pair_post(e, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
	wait_for(e);
	return NULL;
}

/* The other one asks first. */
static void ask(struct end *e)
{
	pair_recv(e, 1, 0, 64);
	pair_post(e, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
	wait_for(e);
	wait_for(e);
}

int main(void)
{
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 2, 128, 64); /* one that comes before the thread is ready */
	pair_must(!pthread_create(&thread, NULL, answer, &p.b), "a thread");
	ask(&p.a);
	pair_must(!pthread_join(thread, NULL), "its end");

	pair_close(&p);
	return 0;
}
