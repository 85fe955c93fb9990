/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program moves a queue pair to ERR, and waits for ever for the flushes of its receives. These
 * are an SRQ's, which keeps them.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/kinds.h"

int main(int argc, char **argv)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p);
	pair_must(!ibv_destroy_qp(p.a.qp), "ibv_destroy_qp");
	p.a.qp = NULL;
	srq = pair_srq(&p);
	qp = pair_shared(&p, srq);
	if (pair_mended(argc, argv)) {
		pair_drain(&p, qp);
	} else {
		pair_must(!ibv_modify_qp(qp, &error, IBV_QP_STATE), "moving to ERR");
		while (!ibv_poll_cq(p.a.cq, 1, &wc)) /* <- */
			;
		pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
