/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	struct ibv_pd *other;

	pair_open(&p);
	other = ibv_alloc_pd(p.context);
	ibv_dereg_mr(p.a.mr);
	p.a.mr = ibv_reg_mr(other, p.a.memory, PAIR_MEMORY, IBV_ACCESS_LOCAL_WRITE); /* <- */
	pair_recv(&p.b, 1, 0, 64);

	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);

	ibv_dereg_mr(p.a.mr);
	p.a.mr = NULL;
	ibv_dealloc_pd(other);
	pair_close(&p);
	return 0;
}
