/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of a shared receive queue are counted in bytes that are too few for a message.
 *
 * Found by: recv-overlap
 */
#include "tests/verbs/sanitize/pair.h"

static void receive(struct pair *p, struct ibv_srq *srq, uint32_t offset)
{
	struct ibv_sge sge = {(uintptr_t)p->b.memory + offset, 1024, p->b.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_srq_recv(srq, &wr, &bad), "a receive"); /* <- */
}

int main(int argc, char **argv)
{
	struct ibv_srq_init_attr attr = {.attr = {4, 1, 0}};
	uint32_t step = pair_mended(argc, argv) ? 1024 : 1000;
	struct ibv_srq *srq;
	struct pair p;

	pair_open(&p);
	srq = ibv_create_srq(p.pd, &attr);
	pair_must(srq != NULL, "a shared receive queue");
	for (uint32_t i = 0; i < 3; i++)
		receive(&p, srq, i * step);
	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
