/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 4096); /* <- */

	ibv_dereg_mr(p.b.mr); /* <- */
	p.b.mr = NULL;
	pair_close(&p);
	return 0;
}
