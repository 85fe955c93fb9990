/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UCX, https://github.com/openucx/ucx/pull/5754
 *
 * An endpoint's queue pair is destroyed as it is, while the interface's other endpoints go on with
 * the shared receive queue: receives that it has taken from there may never be given back.
 *
 * Found by: srq-undrained
 */
#include "tests/verbs/sanitize/kinds.h"

struct interface {
	struct pair p;
	struct ibv_srq *srq;
};

static void destroy_endpoint(struct interface *i, struct ibv_qp *qp, bool mended)
{
	if (mended)
		pair_drain(&i->p, qp);
	else
		pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp"); /* <- */
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_qp *first, *second;
	struct interface i;

	pair_open(&i.p);
	i.srq = pair_srq(&i.p);
	first = pair_shared(&i.p, i.srq);
	second = pair_shared(&i.p, i.srq);
	pair_srq_recv(&i.p, i.srq, pair_use(&i.p, first));
	destroy_endpoint(&i, first, mended);
	pair_srq_recv(&i.p, i.srq, pair_use(&i.p, second)); /* the other one goes on */

	pair_drain(&i.p, second);
	pair_must(!ibv_destroy_srq(i.srq), "ibv_destroy_srq");
	pair_close(&i.p);
	return 0;
}
