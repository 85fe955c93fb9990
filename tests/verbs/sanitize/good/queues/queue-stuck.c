/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <stdbool.h>

int main(void)
{
	struct pair p;

	pair_open(&p);
	for (int i = 0; i < PAIR_DEPTH + 4; i++) {
		bool last = i % PAIR_DEPTH == PAIR_DEPTH - 1;

		pair_try(&p.a, IBV_WR_RDMA_WRITE, last ? IBV_SEND_SIGNALED : 0, 0, 64);
		if (last)
			pair_wait(&p.a);
	}
	pair_close(&p);
	return 0;
}
