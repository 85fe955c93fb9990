/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

static void wait_for(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_reconnect(&p, &p.a, (struct pair_link){0, 0, 14, 7, 7, 1}); /* rnr_retry 7: for ever */

	for (int i = 0; i < 2; i++) {
		pair_recv(&p.b, 1, 0, 64);
		pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
		wait_for(&p.a);
		wait_for(&p.b);
	}
	pair_close(&p);
	return 0;
}
