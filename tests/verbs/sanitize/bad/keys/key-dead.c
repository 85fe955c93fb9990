/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	struct ibv_mr old;

	pair_open(&p);
	old = *p.a.mr;
	ibv_dereg_mr(p.a.mr); /* <- */
	p.a.mr = &old;        /* the key is still in somebody's table */
	pair_recv(&p.b, 1, 0, 64);

	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);

	p.a.mr = NULL;
	pair_close(&p);
	return 0;
}
