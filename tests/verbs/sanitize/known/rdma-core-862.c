/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma-core's tests, https://github.com/linux-rdma/rdma-core/pull/862
 *
 * A function that sends makes an address handle, and destroys it when it returns: the request it
 * has posted may not have been sent by then.
 *
 * Found by: ah-posted
 */
#include "tests/verbs/sanitize/pair.h"

static void put(struct pair *p, struct ibv_qp_ex *qp, struct ibv_ah *ah)
{
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, qp->qp_base.qp_num, 1);
	ibv_wr_set_sge(qp, p->a.mr->lkey, (uintptr_t)p->a.memory, 64);
	pair_must(!ibv_wr_complete(qp), "ibv_wr_complete");
}

static struct ibv_qp *open_qp(struct pair *p)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_UD,
					   .send_cq = p->a.cq,
					   .recv_cq = p->a.cq,
					   .cap = {4, 4, 1, 1, 0},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = p->pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp *qp = ibv_create_qp_ex(p->context, &attr);

	pair_must(qp != NULL, "a queue pair");
	pair_datagrams(qp);
	return qp;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	qp = open_qp(&p);
	ah = pair_address(&p);
	put(&p, ibv_qp_to_qp_ex(qp), ah);
	if (!mended)
		ibv_destroy_ah(ah);
	pair_wait(&p.a);
	if (mended)
		ibv_destroy_ah(ah);
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
