/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UCX, https://github.com/openucx/ucx/issues/7215
 *
 * A fence of the user becomes IBV_SEND_FENCE on READs and atomics only. A put behind a get of the
 * same memory may execute first, and the get returns the data of the put.
 *
 * Found by: write-unfenced
 */
#include "tests/verbs/sanitize/pair.h"

/* What a request after a fence of the user is posted with. */
static unsigned fence_of(enum ibv_wr_opcode opcode, bool mended)
{
	return mended || opcode == IBV_WR_RDMA_READ ? IBV_SEND_FENCE : 0;
}

static void post(struct pair *p, enum ibv_wr_opcode opcode, unsigned flags, uint32_t from)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory + from, 1024, p->a.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = flags | IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)p->b.memory, p->b.mr->rkey}};
	struct ibv_send_wr *bad;

	pair_must(!ibv_post_send(p->a.qp, &wr, &bad), "ibv_post_send");
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	post(&p, IBV_WR_RDMA_READ, fence_of(IBV_WR_RDMA_READ, mended), 0);
	/* uct_ep_fence() */
	post(&p, IBV_WR_RDMA_WRITE, fence_of(IBV_WR_RDMA_WRITE, mended), 4096);
	pair_wait(&p.a);
	pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
