/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <stdbool.h>

int main(void)
{
	struct pair p;

	pair_open(&p);
	for (int i = 0; i < PAIR_DEPTH + 4; i++) {
		pair_try(&p.a, IBV_WR_RDMA_WRITE, 0, 0, 64); /* <- */
		ibv_poll_cq(p.a.cq, 1, &(struct ibv_wc){0}); /* finds nothing, ever */
	}
	pair_close(&p);
	return 0;
}
