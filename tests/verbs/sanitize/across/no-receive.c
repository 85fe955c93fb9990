/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client sends as soon as it is connected, and the server posts its receives after that.
 *
 * Found by: recv-missing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	bool mended = pair_mended(argc, argv);
	struct far f;

	how.rnr_retry = 1;
	far_open(&f, IBV_QPT_RC);
	if (f.server && mended) {
		far_init(&f, how);
		far_recv(&f, 64);
	}
	far_connect(&f, how);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
