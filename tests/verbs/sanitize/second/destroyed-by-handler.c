/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that handles events destroys the queue pair for which another one prepares requests.
 *
 * Found by: destroy-posting
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *handle(void *qp)
{
	ibv_destroy_qp(qp); /* <- */
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	qp = pair_extended(&p, p.pd);
	ibv_wr_start(ibv_qp_to_qp_ex(qp)); /* <- */
	if (mended)
		ibv_wr_abort(ibv_qp_to_qp_ex(qp));
	pair_must(!pthread_create(&thread, NULL, handle, qp), "a thread");
	pair_must(!pthread_join(thread, NULL), "its end");
	pair_close(&p);
	return 0;
}
