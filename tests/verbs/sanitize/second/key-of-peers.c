/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receive names its region by the R_Key.
 *
 * Needs: --fault key.split
 *
 * Found by: key-swapped
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;
	uint32_t lkey;

	pair_open(&p);
	lkey = p.b.mr->lkey;
	if (!mended)
		p.b.mr->lkey = p.b.mr->rkey;
	pair_recv(&p.b, 1, 0, 64); /* <- */
	p.b.mr->lkey = lkey;
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_wait(&p.b);
	pair_close(&p);
	return 0;
}
