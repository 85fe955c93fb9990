/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server registers in a protection domain of its cache, and its queue pair is in another one.
 *
 * Found by: rkey-foreign
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_pd *cache;
	struct ibv_mr *mr;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	cache = ibv_alloc_pd(f.context);
	mr = cache ? ibv_reg_mr(cache, f.memory, FAR_MEMORY, FAR_ALL) : NULL; /* <- */
	pair_must(mr != NULL, "a region of the cache");
	f.here.rkey = mended ? f.mr->rkey : mr->rkey;
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
