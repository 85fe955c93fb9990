/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/1747
 *
 * The target's poller makes its completion queue larger with each queue pair that does not fit any
 * more. Many adapters cannot do that: the first connection beyond its size is refused.
 *
 * Found by: portable
 */
#include "tests/verbs/sanitize/pair.h"

#define DEPTH       16
#define CONNECTIONS 4

struct poller {
	struct ibv_cq *cq;
	int wanted; /* completions that may come at a time */
};

static void add_connection(struct poller *poller)
{
	poller->wanted += 2 * DEPTH;
	if (poller->wanted > poller->cq->cqe)
		pair_must(!ibv_resize_cq(poller->cq, poller->wanted), "ibv_resize_cq"); /* <- */
}

int main(int argc, char **argv)
{
	int entries = pair_mended(argc, argv) ? CONNECTIONS * 2 * DEPTH : 2 * DEPTH;
	struct poller poller = {0};
	struct pair p;

	pair_open(&p);
	poller.cq = ibv_create_cq(p.context, entries, NULL, NULL, 0);
	pair_must(poller.cq != NULL, "a completion queue");
	for (int i = 0; i < CONNECTIONS; i++)
		add_connection(&poller);
	pair_must(!ibv_destroy_cq(poller.cq), "ibv_destroy_cq");
	pair_close(&p);
	return 0;
}
