/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

int main(void)
{
	struct pair p;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	pair_open(&p);
	srq = pair_srq(&p);
	qp = pair_shared(&p, srq);
	pair_drain(&p, qp);

	qp = pair_shared(&p, srq);
	pair_drain(&p, qp);
	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
