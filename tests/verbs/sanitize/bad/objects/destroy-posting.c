/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static pthread_barrier_t step;

static void *post(void *qp)
{
	ibv_wr_start(ibv_qp_to_qp_ex(qp)); /* <- */
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step); /* and it was to go on */
	return NULL;
}

int main(void)
{
	struct pair p;
	struct ibv_qp *qp;
	pthread_t thread;

	pair_open(&p);
	qp = pair_extended(&p, p.pd);
	pthread_barrier_init(&step, NULL, 2);
	pair_must(!pthread_create(&thread, NULL, post, qp), "a thread");
	pthread_barrier_wait(&step);
	ibv_destroy_qp(qp); /* <- */
	pthread_barrier_wait(&step);
	pair_close(&p);
	return 0;
}
