/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server moves its queue pair to RTR when the first message has come, which cannot come before.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (f.server) {
		far_init(&f, far_usual());
		if (mended)
			far_rtr(&f, far_usual());
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
