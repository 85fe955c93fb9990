/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

/* A datagram to a queue pair that does not take it: it is lost, and that is no error. */
static void post(struct pair *p, struct ibv_qp *qp, struct ibv_ah *ah)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory, 64, p->a.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {.ah = ah, .remote_qpn = qp->qp_num, .remote_qkey = 1}},
			   *bad;

	pair_must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

int main(void)
{
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	qp = pair_datagram(&p);
	ah = pair_address(&p);
	post(&p, qp, ah);
	pair_wait(&p.a);
	ibv_destroy_ah(ah);
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
