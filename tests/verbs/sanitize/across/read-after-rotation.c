/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server registers its memory anew for the second round, and the client goes on with the
 * first round's key.
 *
 * Found by: rkey-dead
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static void rotate(struct far *f)
{
	pair_must(!ibv_dereg_mr(f->mr), "ibv_dereg_mr"); /* <- */
	f->mr = ibv_reg_mr(f->pd, f->memory, FAR_MEMORY, FAR_ALL);
	pair_must(f->mr != NULL, "ibv_reg_mr");
	f->here.rkey = f->mr->rkey;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	uint32_t key;
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	key = f.there.rkey;
	for (int round = 0; round < 2; round++) {
		if (f.server && round == 1)
			rotate(&f);
		far_exchange(&f);
		if (mended)
			key = f.there.rkey;
		if (!f.server) {
			far_post_to(&f, IBV_WR_RDMA_READ, 64, f.there.addr, key); /* <- */
			far_wait(&f);
		}
		far_meet(&f);
	}
	far_close(&f);
	return 0;
}
