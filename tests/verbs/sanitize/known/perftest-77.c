/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/pull/77
 *
 * With rdma_cm, ib_send_bw deallocates its protection domain while the region of its credits is
 * still registered. The call fails with EBUSY, and the domain stays.
 *
 * Found by: object-busy
 */
#include "tests/verbs/sanitize/pair.h"

static uint32_t credits[16];

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *credit_mr;
	struct ibv_pd *pd;
	struct pair p;

	pair_open(&p);
	pd = ibv_alloc_pd(p.context);
	credit_mr = pd ? ibv_reg_mr(pd, credits, sizeof(credits), IBV_ACCESS_LOCAL_WRITE) : NULL;
	pair_must(credit_mr != NULL, "a region of credits");
	if (mended)
		ibv_dereg_mr(credit_mr);
	if (ibv_dealloc_pd(pd)) {
		ibv_dereg_mr(credit_mr);
		pair_must(!ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	}
	pair_close(&p);
	return 0;
}
