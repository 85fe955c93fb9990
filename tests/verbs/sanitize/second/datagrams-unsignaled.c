/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams are sent unsignaled, each with an inline copy, until there is no room.
 *
 * Found by: queue-stuck
 */
#include "tests/verbs/sanitize/pair.h"

static int send_one(struct pair *p, struct ibv_qp *qp, struct ibv_ah *ah, unsigned flags)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory, 64, p->a.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = flags,
				 .wr.ud = {ah, qp->qp_num, 1}},
			   *bad;

	return ibv_post_send(qp, &wr, &bad); /* <- */
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct pair p;

	pair_open(&p);
	qp = pair_datagram(&p);
	ah = pair_address(&p);
	for (unsigned i = 0; i < PAIR_DEPTH + 4; i++) {
		bool last = mended && i % PAIR_DEPTH == PAIR_DEPTH - 1;

		send_one(&p, qp, ah, last ? IBV_SEND_SIGNALED : 0);
		if (last)
			pair_wait(&p.a);
	}
	pair_must(!ibv_destroy_qp(qp) && !ibv_destroy_ah(ah), "the end");
	pair_close(&p);
	return 0;
}
