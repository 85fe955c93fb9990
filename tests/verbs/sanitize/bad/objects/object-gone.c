/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p);
	ibv_destroy_qp(p.a.qp);      /* <- */
	ibv_destroy_cq(p.a.cq);      /* <- */
	ibv_destroy_qp(p.a.qp);      /* <- */
	ibv_poll_cq(p.a.cq, 1, &wc); /* <- */
	p.a.qp = NULL;
	p.a.cq = NULL;
	pair_close(&p);
	return 0;
}
