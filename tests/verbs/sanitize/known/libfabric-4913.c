/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/4913
 *
 * The verbs provider posts as long as the send queue has room, and does not count completion queue
 * entries. An overrun breaks the completion queue and each queue pair on it.
 *
 * Found by: cq-overrun
 */
#include "tests/verbs/sanitize/pair.h"

#define ENTRIES 16
#define SENDS   32

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {SENDS, 1, 1, 1, 0}};
	bool mended = pair_mended(argc, argv);
	int credits;
	struct pair p;
	struct end e;

	pair_open(&p);
	e = p.a;
	e.cq = ibv_create_cq(p.context, ENTRIES, NULL, NULL, 0);
	pair_must(e.cq != NULL, "a completion queue");
	credits = mended ? e.cq->cqe : SENDS;
	attr.send_cq = attr.recv_cq = e.cq;
	e.qp = ibv_create_qp(p.pd, &attr);
	pair_must(e.qp != NULL, "a queue pair");
	pair_connect(&p, e.qp, e.qp);
	/* Nothing is polled yet: all of them are outstanding together. */
	for (int i = 0; i < SENDS && credits; i++, credits--)
		pair_post(&e, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 64 * i, 64);

	ibv_destroy_qp(e.qp);
	ibv_destroy_cq(e.cq);
	pair_close(&p);
	return 0;
}
