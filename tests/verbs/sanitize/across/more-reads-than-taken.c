/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client asks as many READs at once as its own device can, the server takes one.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (f.server && !pair_mended(argc, argv))
		how.max_dest_rd_atomic = 1;
	far_connect(&f, how); /* <- */
	for (int i = 0; !f.server && i < 4; i++)
		far_post(&f, IBV_WR_RDMA_READ, 4096);
	for (int i = 0; !f.server && i < 4; i++)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
