/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

int main(void)
{
	struct pair p;
	struct ibv_qp *from, *to;

	pair_open(&p);
	from = pair_ud(&p, 0);
	to = pair_ud(&p, 0);
	pair_recv_at(&p.a, to, 0, 64);     /* <- */
	pair_ud_send(&p, from, to, 0, 64); /* <- */
	pair_recv_at(&p.a, to, 1024, 8);   /* <- */
	pair_must(!ibv_destroy_qp(from), "ibv_destroy_qp");
	pair_must(!ibv_destroy_qp(to), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
