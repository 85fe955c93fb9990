/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR}; /* as a disconnect has it */
	struct pair p;

	pair_open(&p);
	pair_must(!ibv_modify_qp(p.a.qp, &error, IBV_QP_STATE), "ibv_modify_qp");

	for (int i = 0; i < 20; i++) {
		pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64); /* <- */
		pair_wait(&p.a);                                              /* <- */
	}
	pair_close(&p);
	return 0;
}
