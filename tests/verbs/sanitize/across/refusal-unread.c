/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client sends WRITEs that are not signaled, and never polls. The server has refused one of
 * them: nobody learns of it.
 *
 * Found by: rkey-range
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static void write_at(struct far *f, uint64_t addr)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = f->there.rkey;
	pair_must(!ibv_post_send(f->qp, &wr, &bad), "ibv_post_send"); /* <- */
}

static enum ibv_qp_state state_of(const struct far *f)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	pair_must(!ibv_query_qp(f->qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return attr.qp_state;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server)
		write_at(&f, f.there.addr + (mended ? 0 : FAR_MEMORY));
	while (!f.server && !mended && state_of(&f) != IBV_QPS_ERR)
		; /* so that the refusal is there */
	far_meet(&f);
	far_close(&f);
	return 0;
}
