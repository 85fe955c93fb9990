/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server opens its region and not its queue pair.
 *
 * Found by: qp-access
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	if (!pair_mended(argc, argv))
		how.access = IBV_ACCESS_LOCAL_WRITE;
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, how); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
