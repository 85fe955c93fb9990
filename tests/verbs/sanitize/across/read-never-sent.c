/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client asks for no outstanding READs of its own, and posts one.
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
	if (!f.server && !pair_mended(argc, argv))
		how.max_rd_atomic = 0;
	far_connect(&f, how);
	if (!f.server)
		far_post(&f, IBV_WR_RDMA_READ, 64); /* <- */
	if (!f.server && how.max_rd_atomic)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
