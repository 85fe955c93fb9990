/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another thread reads the data of a READ that it knows to be posted.
 *
 * Found by: read-used
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *sum(void *from)
{
	const volatile char *bytes = from;
	int total = 0;

	for (unsigned i = 0; i < 4096; i++)
		total += bytes[i]; /* <- */
	return total ? from : NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	p.b.memory[0] = 1;
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 4096, 8192);
	if (mended)
		pair_wait(&p.a);
	pair_must(!pthread_create(&thread, NULL, sum, p.a.memory + 8192), "a thread");
	pair_must(!pthread_join(thread, NULL), "its end");
	if (!mended)
		pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
