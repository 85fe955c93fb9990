/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	pair_open(&p);
	ibv_dereg_mr(p.b.mr);
	p.b.mr = ibv_reg_mr(p.pd, p.b.memory, PAIR_MEMORY, access);

	pair_post(&p.a, IBV_WR_RDMA_WRITE, 0, 0, 64);
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 64);
	pair_must(pair_wait(&p.a) == IBV_WC_SUCCESS, "both");

	pair_close(&p);
	return 0;
}
