/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

static void wait_for(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

int main(void)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);

	pair_must(!ibv_destroy_qp(p.a.qp), "ibv_destroy_qp"); /* the client leaves */
	p.a.qp = NULL;
	pair_must(!ibv_modify_qp(p.b.qp, &error, IBV_QP_STATE), "moving to ERR");
	wait_for(&p.b); /* flushed */

	pair_close(&p);
	return 0;
}
