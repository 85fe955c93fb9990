/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	pair_open(&p);
	ibv_modify_qp(p.b.qp, &attr, IBV_QP_ACCESS_FLAGS); /* <- */

	pair_post(&p.a, IBV_WR_RDMA_WRITE, 0, 0, 64);
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
