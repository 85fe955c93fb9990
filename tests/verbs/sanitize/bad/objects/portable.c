/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UC, .cap = {1, 1, 8, 1, 200}};
	struct ibv_mr *all, *sink;
	struct ibv_mw *mw;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	all = p.a.mr;
	attr.send_cq = attr.recv_cq = p.a.cq;
	qp = ibv_create_qp(p.pd, &attr);        /* <- */
	mw = ibv_alloc_mw(p.pd, IBV_MW_TYPE_2); /* <- */
	pair_must(qp && mw, "a queue pair and a window");

	pair_recv(&p.b, 1, 4096, 64);
	pair_post(&p.a, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_SIGNALED, 0, 8); /* <- */
	pair_wait(&p.a);
	pair_post(&p.a, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 64, 64); /* <- */
	pair_wait(&p.a);

	pair_must(!ibv_resize_cq(p.a.cq, 100), "ibv_resize_cq"); /* <- */
	p.a.mr = sink = ibv_reg_mr(p.pd, p.a.memory, PAIR_MEMORY, IBV_ACCESS_LOCAL_WRITE);
	pair_must(sink != NULL, "a region that no peer may write to");
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 128, 64); /* <- */
	pair_wait(&p.a);

	p.a.mr = all;
	ibv_dereg_mr(sink);
	ibv_dealloc_mw(mw);
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
