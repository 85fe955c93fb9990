/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server makes a queue pair in a domain for each client, and has one region for all of them.
 *
 * Found by: rkey-foreign
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_pd *own;
	struct far f;

	far_fork(&f);
	far_open_device(&f); /* <- */
	own = ibv_alloc_pd(f.context);
	pair_must(own != NULL, "a domain for a client");
	f.qp = far_qp(&f, IBV_QPT_RC, f.server && !mended ? own : f.pd, NULL);
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_READ, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	pair_must(!ibv_destroy_qp(f.qp), "ibv_destroy_qp");
	f.qp = NULL;
	ibv_dealloc_pd(own);
	far_close(&f);
	return 0;
}
