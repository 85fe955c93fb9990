/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mooncake, https://github.com/kvcache-ai/Mooncake/pull/3584
 *
 * While the answer to a handshake is on its way another thread gives the queue pair up and makes a
 * new one. The late answer connects the new one, and the peer still names the old one.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

/* Another thread has waited for too long. */
static void reconstruct(struct far *f)
{
	pair_must(!ibv_destroy_qp(f->qp), "ibv_destroy_qp");
	f->qp = far_qp(f, IBV_QPT_RC, f->pd, NULL);
}

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (!f.server)
		reconstruct(&f);
	if (pair_mended(argc, argv)) /* the answer was to a queue pair of before: once more */
		far_exchange(&f);
	far_connect(&f, how); /* <- */
	if (f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
