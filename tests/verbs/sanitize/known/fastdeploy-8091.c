/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FastDeploy, https://github.com/PaddlePaddle/FastDeploy/pull/8091
 *
 * A list of WRITEs does not fit into the send queue. The transfer polls nothing, and posts the list
 * from its head again, up to seven times: each fails, and the rest of the list is never sent.
 *
 * Found by: queue-overrun
 */
#include "tests/verbs/sanitize/pair.h"

#define BLOCKS  (PAIR_DEPTH + 4)
#define RETRIES 7

static struct ibv_sge pieces[BLOCKS];
static struct ibv_send_wr list[BLOCKS];

static void make_list(const struct pair *p)
{
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t at = 64 * (uint64_t)i;

		pieces[i] = (struct ibv_sge){(uintptr_t)p->a.memory + at, 64, p->a.mr->lkey};
		list[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i,
					       .next = i + 1 < BLOCKS ? &list[i + 1] : NULL,
					       .sg_list = &pieces[i],
					       .num_sge = 1,
					       .opcode = IBV_WR_RDMA_WRITE,
					       .send_flags = IBV_SEND_SIGNALED};
		list[i].wr.rdma.remote_addr = (uintptr_t)p->b.memory + at;
		list[i].wr.rdma.rkey = p->b.mr->rkey;
	}
}

int main(int argc, char **argv)
{
	struct ibv_send_wr *from = list, *bad;
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	make_list(&p);
	for (int i = 0; i < RETRIES && ibv_post_send(p.a.qp, from, &bad); i++) {
		if (!mended)
			continue;
		pair_wait(&p.a);
		from = bad;
	}
	for (int i = 0; i < PAIR_DEPTH; i++)
		pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
