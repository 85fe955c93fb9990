/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server)
		far_recv(&f, 4096);
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 4096);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
