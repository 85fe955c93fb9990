/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client sends before the server has moved its queue pair to RTR. With a timeout of 0 the
 * message is never repeated: this waits for ever.
 *
 * Found by: conn-unanswered
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
	bool early = !pair_mended(argc, argv);
	struct far_link how = far_usual();
	struct far f;

	how.timeout = 0; /* timeout 0: no request is repeated */
	far_open(&f, IBV_QPT_RC);
	far_init(&f, how);
	if (f.server)
		far_recv(&f, 64);
	if (!f.server || !early) {
		far_rtr(&f, how);
		far_rts(&f, how);
	}
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 64);
		await_sent(&f);
	}
	far_meet(&f); /* <- */
	if (f.server && early) {
		far_rtr(&f, how);
		far_rts(&f, how);
	}
	if (f.server)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
