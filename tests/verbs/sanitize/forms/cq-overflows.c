/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completion queue is too small, and completions of one batch do not fit.
 *
 * Found by: cq-overrun
 */
#include "tests/verbs/sanitize/pair.h"

#define BATCH 64

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {BATCH, 1, 1, 1, 0}};
	bool mended = pair_mended(argc, argv);
	struct pair p;
	struct end e;

	pair_open(&p);
	e = p.a;
	e.cq = ibv_create_cq(p.context, mended ? BATCH : 4, NULL, NULL, 0); /* <- */
	attr.send_cq = attr.recv_cq = e.cq;
	e.qp = ibv_create_qp(p.pd, &attr);
	pair_connect(&p, e.qp, e.qp);
	for (int i = 0; i < BATCH; i++)
		pair_post(&e, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 4096, 64);
	for (int i = 0; i < (mended ? BATCH : 4); i++)
		pair_wait(&e);
	pair_must(!ibv_destroy_qp(e.qp) && !ibv_destroy_cq(e.cq), "destroying them");
	pair_close(&p);
	return 0;
}
