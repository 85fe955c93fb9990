/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/pull/263
 *
 * With XRC the number of receives is not held against the number of queue pairs: fewer receives
 * than queue pairs are none for each, and the other side repeats its message without end.
 *
 * Found by: peer-unready
 */
#include "tests/verbs/sanitize/pair.h"

#define QUEUE_PAIRS 2u

static void take(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

int main(int argc, char **argv)
{
	uint32_t depth = pair_mended(argc, argv) ? QUEUE_PAIRS : 1;
	struct pair p;

	pair_open(&p);
	if (depth < QUEUE_PAIRS)
		pair_reconnect(&p, &p.a,
			       (struct pair_link){0, 0, 14, 7, 7, 1}); /* rnr_retry 7: for ever */
	for (uint32_t i = 0; i < depth / QUEUE_PAIRS; i++)
		pair_recv(&p.b, i, 64 * i, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	take(&p.a);
	take(&p.b);
	pair_close(&p);
	return 0;
}
