/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

int main(void)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	int failed = 0, receives = 0, sends = 0;
	struct pair p;
	struct ibv_wc wc;

	pair_open(&p);
	for (int i = 0; i < 4; i++)
		pair_recv(&p.b, 1, 64 * i, 64);
	pair_must(!ibv_modify_qp(p.b.qp, &err, IBV_QP_STATE), "ibv_modify_qp");
	for (int i = 0; i < 4; i++) {
		pair_next(&p.b, &wc);
		if (wc.status != IBV_WC_SUCCESS)
			failed++;
		if (wc.opcode & IBV_WC_RECV) /* <- */
			receives++;
		else
			sends++;
	}
	pair_must(failed == 4 && receives + sends == 4, "four completions");
	pair_close(&p);
	return 0;
}
