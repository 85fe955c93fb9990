/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair of one protection domain receives into memory that was registered in another.
 *
 * Found by: key-foreign
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 1}, *bad;
	struct ibv_sge sge;
	struct ibv_pd *other;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	other = ibv_alloc_pd(p.context);
	pair_must(other != NULL, "a domain");
	qp = pair_extended(&p, other);
	mr = ibv_reg_mr(mended ? other : p.pd, p.b.memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	pair_must(mr != NULL, "a region");
	sge = (struct ibv_sge){(uintptr_t)p.b.memory, 64, mr->lkey};
	wr.sg_list = &sge;
	ibv_post_recv(qp, &wr, &bad); /* <- */
	pair_must(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(other), "the end");
	pair_close(&p);
	return 0;
}
