/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread fills the buffer of a WRITE with the next data before the completion.
 *
 * Found by: send-written
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *fill(void *buffer)
{
	*(volatile char *)buffer = 2; /* <- */
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8192);
	if (mended)
		pair_wait(&p.a);
	pair_must(!pthread_create(&thread, NULL, fill, p.a.memory + 4096), "a thread");
	pair_must(!pthread_join(thread, NULL), "its end");
	if (!mended)
		pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
