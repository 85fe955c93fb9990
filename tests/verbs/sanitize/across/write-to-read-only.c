/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server changes its region's rights by ibv_rereg_mr while the client writes on.
 *
 * Found by: rkey-access
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	int right = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	struct far f;

	if (pair_mended(argc, argv))
		right |= IBV_ACCESS_REMOTE_WRITE;
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server) {
		int what = IBV_REREG_MR_CHANGE_ACCESS;
		int err = ibv_rereg_mr(f.mr, what, NULL, NULL, 0, right); /* <- */

		pair_must(!err, "ibv_rereg_mr");
		f.here.rkey = f.mr->rkey;
	}
	far_exchange(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
