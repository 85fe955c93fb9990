/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shared receive queue is filled for small messages, and a large one comes.
 *
 * Found by: recv-short
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = FAR_DEPTH, .max_sge = 1}};
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	srq = ibv_create_srq(f.pd, &attr);
	pair_must(srq != NULL, "ibv_create_srq");
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, srq);
	far_exchange(&f);
	sge = (struct ibv_sge){(uintptr_t)f.memory, mended ? 8192 : 64, f.mr->lkey};
	wr.sg_list = &sge;
	pair_must(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv"); /* <- */
	far_connect(&f, far_usual());
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 8192);
		far_wait(&f);
	}
	far_meet(&f);
	pair_must(!ibv_destroy_qp(f.qp) && !ibv_destroy_srq(srq), "destroying");
	f.qp = NULL;
	far_close(&f);
	return 0;
}
