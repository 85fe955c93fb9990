/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each end takes the MTU of its own configuration file.
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
		how.mtu = IBV_MTU_512;
	far_connect(&f, how); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 4096);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
