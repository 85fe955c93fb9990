/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YDB Network Block Store, https://github.com/ydb-platform/nbs/issues/4533
 *
 * A receive that completes with an error is posted again like any other. Its queue pair is in the
 * error state.
 *
 * Found by: post-after-error
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	bool mended = pair_mended(argc, argv);
	enum ibv_wc_status status;
	struct pair p;

	pair_open(&p);
	for (int i = 0; i < PAIR_DEPTH; i++)
		pair_recv(&p.b, 1, 64 * i, 64);
	pair_must(!ibv_modify_qp(p.b.qp, &error, IBV_QP_STATE), "an error");

	for (int i = 0; i < 2 * PAIR_DEPTH; i++) {
		status = pair_wait(&p.b);
		if (mended && status != IBV_WC_SUCCESS)
			break; /* and connect anew */
		pair_recv(&p.b, 1, 64 * (i % PAIR_DEPTH), 64);
	}
	pair_close(&p);
	return 0;
}
