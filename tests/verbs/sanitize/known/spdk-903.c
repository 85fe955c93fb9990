/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/903
 *
 * The target is shut down under load: it destroys a queue pair that has receives of the shared
 * queue, polls on, and asserts that it has the queue pair of each completion.
 *
 * Found by: srq-undrained
 */
#include "tests/verbs/sanitize/kinds.h"

static void poll_rest(struct pair *p)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(p->a.cq, 1, &wc) > 0)
		;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	srq = pair_srq(&p);
	qp = pair_shared(&p, srq);
	pair_use(&p, qp);
	if (mended)
		pair_drain(&p, qp);
	else
		pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp"); /* <- */
	poll_rest(&p);

	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
