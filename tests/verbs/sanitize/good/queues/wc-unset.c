/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

enum { RECEIVE = 1 };

int main(void)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct pair p;
	struct ibv_wc wc, kept;
	int receives = 0;

	pair_open(&p);
	for (int i = 0; i < 4; i++)
		pair_recv(&p.b, RECEIVE, 64 * i, 64);
	pair_must(!ibv_modify_qp(p.b.qp, &err, IBV_QP_STATE), "ibv_modify_qp");
	for (int i = 0; i < 4; i++) {
		pair_next(&p.b, &wc);
		kept = wc;
		if (kept.wr_id == RECEIVE || wc.status == IBV_WC_SUCCESS)
			receives++;
	}
	pair_must(receives == 4, "four receives");
	pair_close(&p);
	return 0;
}
