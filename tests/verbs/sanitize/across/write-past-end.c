/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client takes its own message length for what the server has made room for.
 *
 * Found by: rkey-range
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post_to(&f, IBV_WR_RDMA_WRITE, 4096, /* <- */
			    f.there.addr + FAR_MEMORY - (mended ? 4096 : 4000), f.there.rkey);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
