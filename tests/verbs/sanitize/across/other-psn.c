/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends draw their first PSN, and neither tells the other.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	how.sq_psn = f.server ? 5000 : 1000;
	how.rq_psn = f.server != pair_mended(argc, argv) ? 5000 : 1000;
	far_connect(&f, how); /* <- */
	if (f.server)
		far_recv(&f, 64);
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
