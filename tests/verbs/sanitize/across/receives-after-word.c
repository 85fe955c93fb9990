/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server posts its receive when the client has told it, on a socket, that the message is sent.
 * With rnr_retry 7 the client waits for ever for that receive, and tells nothing.
 *
 * Found by: peer-unready
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static void await_sent(struct far *f)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far_link how = far_usual();
	struct far f;

	how.rnr_retry = 7; /* for ever */
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, how);
	if (f.server && mended)
		far_recv(&f, 64);
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 64);
		await_sent(&f);
	}
	far_meet(&f); /* <- */
	if (f.server && !mended)
		far_recv(&f, 64);
	if (f.server)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
