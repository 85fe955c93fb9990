/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receive's element was not filled in: its L_Key is what was in that memory before.
 *
 * Found by: key-unknown
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_sge sge = {.lkey = 0xa5a5a5a5};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
	struct pair p;

	pair_open(&p);
	sge.addr = (uintptr_t)p.b.memory;
	sge.length = 64;
	if (pair_mended(argc, argv))
		sge.lkey = p.b.mr->lkey;
	pair_must(!ibv_post_recv(p.b.qp, &wr, &bad), "ibv_post_recv"); /* <- */
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.b); /* <- */
	pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
