/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_sge old, new;
	struct ibv_send_wr write = {.sg_list = &new,
				    .num_sge = 1,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
	struct ibv_send_wr read = {
		.sg_list = &old, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .next = &write};
	struct ibv_send_wr *bad;
	struct pair p;

	pair_open(&p);
	old = (struct ibv_sge){(uintptr_t)p.a.memory, 1024, p.a.mr->lkey};
	new = (struct ibv_sge){(uintptr_t)p.a.memory + 4096, 1024, p.a.mr->lkey};
	read.wr.rdma.remote_addr = write.wr.rdma.remote_addr = (uintptr_t)p.b.memory;
	read.wr.rdma.rkey = write.wr.rdma.rkey = p.b.mr->rkey;

	pair_must(!ibv_post_send(p.a.qp, &read, &bad), "ibv_post_send");
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
