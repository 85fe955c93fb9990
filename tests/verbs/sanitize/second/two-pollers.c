/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread polls, and drops what it does not know: another one waits for that, and both poll on.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>
#include <time.h>

#define ITS_OWN 7 /* the wr_id that the thread knows */

static const struct timespec pause = {.tv_nsec = 100000};
static bool dropped, stop;

static void *serve(void *arg)
{
	struct end *e = arg;
	struct ibv_wc wc;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (ibv_poll_cq(e->cq, 1, &wc) > 0 && wc.wr_id != ITS_OWN)
			__atomic_store_n(&dropped, true, __ATOMIC_RELEASE);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void wait_for(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc)) /* <- */
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	if (!mended)
		pair_must(!pthread_create(&thread, NULL, serve, &p.a), "a thread");
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64);
	while (!mended && !__atomic_load_n(&dropped, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
	wait_for(&p.a);
	if (!mended) {
		__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
		pair_must(!pthread_join(thread, NULL), "its end");
	}
	pair_close(&p);
	return 0;
}
