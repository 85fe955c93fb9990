/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server gives its region back when it believes that the client is done.
 *
 * Found by: rkey-dead
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server && !mended) {
		pair_must(!ibv_dereg_mr(f.mr), "ibv_dereg_mr"); /* <- */
		f.mr = NULL;
	}
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
