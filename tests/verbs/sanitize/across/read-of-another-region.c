/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server has two regions and tells the address of one with the key of the other.
 *
 * Found by: rkey-range
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *half;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	ibv_dereg_mr(f.mr);
	half = ibv_reg_mr(f.pd, f.memory, FAR_MEMORY / 2, FAR_ALL);                  /* <- */
	f.mr = ibv_reg_mr(f.pd, f.memory + FAR_MEMORY / 2, FAR_MEMORY / 2, FAR_ALL); /* <- */
	pair_must(half && f.mr, "regions");
	f.here.rkey = mended ? half->rkey : f.mr->rkey;
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		struct ibv_sge sge = {(uintptr_t)f.memory, 64, half->lkey};
		struct ibv_send_wr wr = {.sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_READ,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {f.there.addr, f.there.rkey}};
		struct ibv_send_wr *bad;

		pair_must(!ibv_post_send(f.qp, &wr, &bad), "ibv_post_send"); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	ibv_dereg_mr(half);
	far_close(&f);
	return 0;
}
