/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	struct ibv_mr told;

	pair_open(&p);
	told = *p.b.mr; /* what b has told a of its memory */
	ibv_dereg_mr(p.b.mr);
	p.b.mr = &told;

	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);                                              /* <- */

	p.b.mr = NULL;
	pair_close(&p);
	return 0;
}
