/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct ibv_pd *cache;
	struct ibv_mr *mr;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	cache = ibv_alloc_pd(f.context);
	mr = ibv_reg_mr(cache, f.memory, 4096, FAR_ALL); /* <- */
	f.here.rkey = mr->rkey;
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(cache);
	far_close(&f);
	return 0;
}
