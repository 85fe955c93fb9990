/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mooncake, https://github.com/kvcache-ai/Mooncake/pull/2427
 *
 * An endpoint whose peer went away is connected again by a move to RESET. That discards its
 * requests without completions, and the transfers that count them never end.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/pair.h"

static void drain(struct end *e, int n)
{
	struct ibv_wc wc;

	while (n)
		n -= ibv_poll_cq(e->cq, 1, &wc);
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr attr = {.qp_state =
					   pair_mended(argc, argv) ? IBV_QPS_ERR : IBV_QPS_RESET};
	struct pair p;

	pair_open(&p);
	for (unsigned i = 0; i < 2; i++)
		pair_recv(&p.b, i, 64 * i, 64);
	pair_must(!ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE), "giving up the connection");
	drain(&p.b, 2);

	pair_reconnect(&p, &p.b, (struct pair_link){0, 0, 14, 7, 6, 1});
	pair_close(&p);
	return 0;
}
