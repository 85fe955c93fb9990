/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct far_link how = far_usual();
	struct far f;

	how.rnr_retry = 2;
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, how);
	for (int i = 0; f.server && i < 3; i++)
		far_recv(&f, 64);
	far_meet(&f);
	for (int i = 0; !f.server && i < 3; i++) {
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
