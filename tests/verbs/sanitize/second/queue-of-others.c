/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends and receives have a completion queue each. The program polls that of the receives for the
 * completion of a SEND.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/pair.h"

/* A queue pair, connected with itself, whose sends complete to a's queue, its receives to b's. */
static struct ibv_qp *divided(struct pair *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.send_cq = p->a.cq,
					.recv_cq = p->b.cq,
					.cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	pair_must(qp != NULL, "a queue pair");
	pair_connect(p, qp, qp);
	return qp;
}

int main(int argc, char **argv)
{
	struct ibv_send_wr wr = {.wr_id = 1,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_sge sge;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p);
	qp = divided(&p);
	sge = (struct ibv_sge){(uintptr_t)p.a.memory, 64, p.a.mr->lkey};
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)p.b.memory;
	wr.wr.rdma.rkey = p.b.mr->rkey;
	pair_must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	while (!ibv_poll_cq(pair_mended(argc, argv) ? p.a.cq : p.b.cq, 1, &wc)) /* <- */
		;

	pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
