/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 1}, *bad;
	struct ibv_sge element;
	struct pair p;

	pair_open(&p);
	element = (struct ibv_sge){(uintptr_t)p.a.memory, 64, p.a.mr->lkey};
	wr.sg_list = &element;
	ibv_post_recv(p.a.qp, &wr, &bad);
	pair_close(&p);
	return 0;
}
