/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *receive(void *qp)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	ibv_post_recv(qp, &wr, &bad); /* <- */
	return NULL;
}

int main(void)
{
	struct pair p;
	struct ibv_qp *qp;
	pthread_t thread;

	pair_open(&p);
	qp = pair_extended(&p, pair_domain(&p)); /* of one thread */
	ibv_wr_start(ibv_qp_to_qp_ex(qp));       /* <- */
	pair_must(!pthread_create(&thread, NULL, receive, qp), "a thread");
	pthread_join(thread, NULL);
	ibv_wr_abort(ibv_qp_to_qp_ex(qp));
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
