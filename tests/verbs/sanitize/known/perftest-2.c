/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/issues/2
 *
 * A test of more iterations than receives posts each receive again. The address that it begins from
 * is set for tests of bandwidth only: in ib_send_lat it is 0.
 *
 * Found by: key-range
 */
#include "tests/verbs/sanitize/pair.h"

#define SIZE 64u

static void post_again(struct pair *p, uint64_t begin, uint32_t offset)
{
	struct ibv_sge sge = {begin + offset, SIZE, p->b.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_recv(p->b.qp, &wr, &bad), "ibv_post_recv"); /* <- */
}

int main(int argc, char **argv)
{
	uint64_t begin = 0;
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, SIZE);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, SIZE);
	pair_wait(&p.a);
	pair_wait(&p.b);
	if (pair_mended(argc, argv))
		begin = (uintptr_t)p.b.memory;
	post_again(&p, begin, SIZE);
	pair_close(&p);
	return 0;
}
