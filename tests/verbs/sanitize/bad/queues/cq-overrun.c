/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {16, 16, 1, 1, 0}};
	struct pair p;
	struct end e;

	pair_open(&p);
	e = p.a;
	e.cq = ibv_create_cq(p.context, 16, NULL, NULL, 0); /* <- */
	attr.send_cq = attr.recv_cq = e.cq;
	e.qp = ibv_create_qp(p.pd, &attr);
	pair_connect(&p, e.qp, e.qp);

	for (int i = 0; i < 16; i++)
		pair_recv(&e, 1, 64 * i, 64);
	pair_post(&e, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 4096, 64); /* <- */

	pair_must(!ibv_destroy_qp(e.qp) && !ibv_destroy_cq(e.cq), "destroying them");
	pair_close(&p);
	return 0;
}
