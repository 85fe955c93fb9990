/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

int main(void)
{
	struct pair p;
	struct ibv_qp *qp;

	pair_open(&p);
	qp = pair_ud(&p, 0);                           /* <- */
	pair_ud_send(&p, qp, qp, IBV_SEND_INLINE, 16); /* <- */
	pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
