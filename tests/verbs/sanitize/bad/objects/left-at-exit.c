/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	static char more[4096];
	struct pair p;

	pair_open(&p);
	ibv_reg_mr(p.pd, more, sizeof(more), IBV_ACCESS_LOCAL_WRITE); /* <- */

	p.pd = NULL; /* it cannot go while a region is in it, and nobody asks why */
	pair_close(&p);
	return 0;
}
