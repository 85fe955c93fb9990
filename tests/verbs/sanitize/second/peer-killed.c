/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer ends at once, in the midst of a connection, and destroys nothing.
 *
 * Found by: completion-failed
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <unistd.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64);
		far_wait(&f);
	}
	far_meet(&f);
	if (f.server && !mended)
		_exit(0);
	if (!mended)
		far_hear_end(&f);
	if (!f.server) {
		/* The socket may end before the QP does, and the first READ succeed. */
		do
			far_post(&f, IBV_WR_RDMA_READ, 64); /* <- */
		while (far_wait(&f) == IBV_WC_SUCCESS && !mended);
	}
	if (mended)
		far_meet(&f);
	far_close(&f);
	return 0;
}
