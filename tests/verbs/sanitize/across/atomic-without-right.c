/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server registers for WRITEs and READs, and the client counts by atomics.
 *
 * Found by: rkey-access
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	int access = FAR_ALL;
	struct far f;

	if (!pair_mended(argc, argv))
		access &= ~IBV_ACCESS_REMOTE_ATOMIC;
	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	ibv_dereg_mr(f.mr);
	f.mr = ibv_reg_mr(f.pd, f.memory, FAR_MEMORY, access); /* <- */
	pair_must(f.mr != NULL, "ibv_reg_mr");
	f.here.rkey = f.mr->rkey;
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_ATOMIC_FETCH_AND_ADD, 8); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
