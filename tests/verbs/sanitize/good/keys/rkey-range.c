/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server) {
		uint64_t end = f.there.addr + FAR_MEMORY;

		far_post_to(&f, IBV_WR_RDMA_WRITE, 4096, end - 4096, f.there.rkey);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
