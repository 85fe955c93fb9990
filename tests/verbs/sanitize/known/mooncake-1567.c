/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mooncake, https://github.com/kvcache-ai/Mooncake/pull/1567
 *
 * The queue pair of notifications is connected again by way of RESET, which takes its receives, and
 * nobody posts them again: the other side's notification is repeated without end.
 *
 * Found by: peer-unready
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

#define RECEIVES 4

static void take(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

static void *hear(void *arg)
{
	take(arg);
	return NULL;
}

static void post_receives(struct end *e)
{
	for (unsigned i = 0; i < RECEIVES; i++)
		pair_recv(e, i, 64 * i, 64);
}

static void connect_again(struct pair *p)
{
	const struct pair_link how = {0, 0, 14, 7, 7, 1}; /* rnr_retry 7: for ever */

	pair_reconnect(p, &p->a, how);
	pair_reconnect(p, &p->b, how);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	post_receives(&p.b);
	connect_again(&p);
	if (mended)
		post_receives(&p.b);
	pair_must(!pthread_create(&thread, NULL, hear, &p.b), "a thread");
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	take(&p.a);
	pthread_join(thread, NULL);
	pair_close(&p);
	return 0;
}
