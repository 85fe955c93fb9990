/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mooncake, https://github.com/kvcache-ai/Mooncake/pull/1903
 *
 * One thread takes an endpoint out of use and destroys its queue pair, another one has the pointer
 * still and posts to it.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static struct pair p;
static struct ibv_qp *endpoint; /* NULL: it is out of use */
static pthread_barrier_t step;

static void *worker(void *arg)
{
	struct ibv_qp *qp = endpoint;
	struct ibv_sge sge = {(uintptr_t)p.a.memory, 64, p.a.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad = NULL;

	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step); /* and here it was destroyed */
	if (arg)
		qp = endpoint;
	if (qp)
		pair_must(ibv_post_send(qp, &wr, &bad) && bad == &wr, "being refused");
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;

	pair_open(&p);
	endpoint = p.a.qp;
	pthread_barrier_init(&step, NULL, 2);
	pair_must(!pthread_create(&thread, NULL, worker, mended ? &p : NULL), "a thread");
	pthread_barrier_wait(&step);
	endpoint = NULL;
	ibv_destroy_qp(p.a.qp);
	p.a.qp = NULL;
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	pair_close(&p);
	return 0;
}
