/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/2261
 *
 * The initiator says when it connects that it takes 16 READs at a time, and its queue pair takes 8:
 * the ninth READ of the target is refused, and the connection ends.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define SAID  16
#define TAKEN 8

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	how.max_rd_atomic = SAID;
	how.max_dest_rd_atomic = SAID;
	far_open(&f, IBV_QPT_RC);
	if (f.server && !pair_mended(argc, argv)) /* which is the initiator: it serves READs */
		how.max_dest_rd_atomic = TAKEN;
	far_connect(&f, how); /* <- */
	for (int i = 0; !f.server && i < SAID; i++)
		far_post(&f, IBV_WR_RDMA_READ, 4096);
	for (int i = 0; !f.server && i < SAID; i++)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
