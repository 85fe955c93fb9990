/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (f.server) {
		far_init(&f, far_usual());
		far_recv(&f, 64);
		far_meet(&f);
	} else {
		far_connect(&f, far_usual());  /* <- */
		far_post(&f, IBV_WR_SEND, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
