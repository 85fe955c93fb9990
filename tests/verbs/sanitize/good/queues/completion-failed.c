/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64);
		far_wait(&f);
	}
	far_meet(&f);
	if (f.server)
		far_close(&f); /* does not come back */

	far_hear_end(&f);
	far_close(&f);
	return 0;
}
