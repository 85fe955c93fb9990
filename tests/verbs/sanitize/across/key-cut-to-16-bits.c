/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message in which the key is told has 16 bits for it.
 *
 * Found by: rkey-unknown
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
		uint32_t key = mended ? f.there.rkey : (uint16_t)f.there.rkey;

		far_post_to(&f, IBV_WR_RDMA_READ, 64, f.there.addr, key); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
