/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair with functions of its own is posted to after it was destroyed.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	qp = pair_extended(&p, p.pd);
	qpx = ibv_qp_to_qp_ex(qp);
	pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	if (!mended) {
		ibv_wr_start(qpx);
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, p.a.mr->lkey, (uintptr_t)p.a.memory, 64);
		pair_must(ibv_wr_complete(qpx) != 0, "being refused");
	}
	pair_close(&p);
	return 0;
}
