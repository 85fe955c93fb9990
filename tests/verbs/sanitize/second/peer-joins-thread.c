/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer joins a thread that is long at work.
 *
 * Found by: peer-elsewhere
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>
#include <unistd.h>

#define LONG_S 6

static void *work(void *arg)
{
	sleep(LONG_S);
	return arg;
}

static void join(void)
{
	pthread_t thread;

	pair_must(!pthread_create(&thread, NULL, work, NULL), "a thread");
	pair_must(!pthread_join(thread, NULL), "its end");
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	far_recv(&f, 64);
	far_meet(&f);
	if (f.server && !mended)
		join();
	far_post(&f, IBV_WR_SEND, 64);
	far_wait(&f);
	far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
