/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *post(void *qp)
{
	ibv_wr_start(ibv_qp_to_qp_ex(qp));
	ibv_wr_abort(ibv_qp_to_qp_ex(qp));
	return NULL;
}

int main(void)
{
	struct pair p;
	struct ibv_qp *qp;
	pthread_t thread;

	pair_open(&p);
	qp = pair_extended(&p, p.pd);
	pair_must(!pthread_create(&thread, NULL, post, qp), "a thread");
	pthread_join(thread, NULL);
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
