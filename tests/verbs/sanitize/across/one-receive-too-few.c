/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * WRITEs with immediate data take receives as well, and nobody has counted them.
 *
 * Found by: recv-missing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	int receives = pair_mended(argc, argv) ? 3 : 2;
	struct far f;

	how.rnr_retry = 2;
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, how);
	for (int i = 0; f.server && i < receives; i++)
		far_recv(&f, 64); /* <- */
	far_meet(&f);
	for (int i = 0; !f.server && i < 3; i++) {
		far_post(&f, i == 1 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
