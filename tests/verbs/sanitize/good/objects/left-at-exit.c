/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	static char more[4096];
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	mr = ibv_reg_mr(p.pd, more, sizeof(more), IBV_ACCESS_LOCAL_WRITE);

	pair_must(mr && !ibv_dereg_mr(mr), "a region");
	pair_close(&p);
	return 0;
}
