/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server allows READs and WRITEs, and the client sends an atomic.
 *
 * Found by: qp-access
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (f.server && !pair_mended(argc, argv))
		how.access &= ~IBV_ACCESS_REMOTE_ATOMIC;
	far_connect(&f, how); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_ATOMIC_FETCH_AND_ADD, 8); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
