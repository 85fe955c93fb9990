/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server connects the first of its queue pairs with each client, and tells the second's number.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_qp *second;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	second = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	far_exchange(&f);
	if (f.server) {
		struct ibv_qp *first = f.qp;
		uint32_t client = f.there.qpn;

		f.qp = mended ? first : second;
		far_init(&f, far_usual());
		far_rtr(&f, far_usual());
		f.qp = mended ? second : first;
		f.there.qpn = client + 1;
		far_init(&f, far_usual());
		far_rtr(&f, far_usual()); /* <- */
		f.qp = first;
		far_meet(&f);
	} else {
		far_connect(&f, far_usual()); /* <- */
		far_post(&f, IBV_WR_RDMA_WRITE, 64);
		far_wait(&f);
	}
	far_meet(&f);
	ibv_destroy_qp(second);
	far_close(&f);
	return 0;
}
