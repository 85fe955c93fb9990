/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/issues/308
 *
 * With datagrams and a shared receive queue, ib_send_bw posts receives whose length is rounded up
 * to the MTU: they end behind the region. Adapters that look at the length fail the datagram.
 *
 * Found by: key-range
 */
#include "tests/verbs/sanitize/kinds.h"

#define HEADER 40u /* in front of each datagram */
#define MTU    1024u
#define SIZE   1024u
#define QKEY   1 /* of pair_datagrams */

static uint32_t round_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

/* A server's queue pair, which is its own client. */
static struct ibv_qp *datagrams_of(struct pair *p, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD,
					.send_cq = p->a.cq,
					.recv_cq = p->a.cq,
					.srq = srq,
					.cap = {1, 0, 1, 0, 0}};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	pair_must(qp != NULL, "a queue pair on a shared receive queue");
	pair_datagrams(qp);
	return qp;
}

static void send_to_itself(struct pair *p, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)p->b.memory, SIZE, p->b.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;

	wr.wr.ud.ah = pair_address(p);
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	pair_must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	for (int i = 0; i < 2; i++)
		pair_next(&p->a, &wc);
	pair_must(!ibv_destroy_ah(wr.wr.ud.ah), "ibv_destroy_ah");
}

int main(int argc, char **argv)
{
	uint32_t length = pair_mended(argc, argv) ? HEADER + SIZE : round_up(HEADER + SIZE, MTU);
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 1}, *bad;
	struct ibv_srq_init_attr attr = {.attr = {1, 1, 0}};
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	srq = ibv_create_srq(p.pd, &attr);
	mr = ibv_reg_mr(p.pd, p.a.memory, HEADER + SIZE, IBV_ACCESS_LOCAL_WRITE);
	pair_must(srq && mr, "a shared receive queue and a region");
	qp = datagrams_of(&p, srq);
	sge = (struct ibv_sge){(uintptr_t)p.a.memory, length, mr->lkey};
	wr.sg_list = &sge;
	pair_must(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv"); /* <- */
	send_to_itself(&p, qp);

	pair_must(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) && !ibv_dereg_mr(mr), "destroying");
	pair_close(&p);
	return 0;
}
