/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shared receive queue gets a buffer whose region is gone: only the key was kept.
 *
 * Found by: key-dead
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_srq_init_attr attr = {.attr = {4, 1, 0}};
	bool mended = pair_mended(argc, argv);
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 1}, *bad;
	struct ibv_sge sge;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	srq = ibv_create_srq(p.pd, &attr);
	mr = ibv_reg_mr(p.pd, p.b.memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	pair_must(srq && mr, "a shared receive queue and a region");
	sge = (struct ibv_sge){(uintptr_t)p.b.memory, 64, mr->lkey};
	wr.sg_list = &sge;
	if (mended)
		ibv_post_srq_recv(srq, &wr, &bad);
	pair_must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	if (!mended)
		ibv_post_srq_recv(srq, &wr, &bad); /* <- */
	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
