/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair takes receives in INIT. The program forgets to move it on, and waits for ever for a
 * message.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/kinds.h"

static struct ibv_qp *in_init(struct pair *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.send_cq = p->a.cq,
					.recv_cq = p->a.cq,
					.cap = {4, 4, 1, 1, 0}};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	pair_must(qp && !ibv_modify_qp(qp, &init,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
		  "a queue pair");
	return qp;
}

int main(int argc, char **argv)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .wr_id = 2};
	struct ibv_send_wr *bad;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p);
	qp = in_init(&p);
	pair_recv_at(&p.a, qp, 0, 64);
	if (pair_mended(argc, argv)) {
		pair_connect(&p, qp, qp);
		sge = (struct ibv_sge){(uintptr_t)p.a.memory + 64, 64, p.a.mr->lkey};
		pair_must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	}
	while (!ibv_poll_cq(p.a.cq, 1, &wc)) /* <- */
		;

	pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
