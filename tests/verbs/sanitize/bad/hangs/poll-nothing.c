/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

static void wait_for(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc)) /* <- */
		;
}

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, 0, 0, 64);
	wait_for(p.a.cq);

	pair_close(&p);
	return 0;
}
