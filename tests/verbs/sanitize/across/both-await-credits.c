/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each end waits for the credits of the other. They look now and then, and have a socket still:
 * this waits for ever.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <unistd.h>

#define PAUSE_US 500

static void await_credit(struct far *f)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		usleep(PAUSE_US);
}

int main(int argc, char **argv)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	far_recv(&f, 64);
	far_meet(&f);
	if (f.server && pair_mended(argc, argv)) {
		far_post(&f, IBV_WR_SEND, 64);
		await_credit(&f);
	}
	await_credit(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 64);
		await_credit(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
