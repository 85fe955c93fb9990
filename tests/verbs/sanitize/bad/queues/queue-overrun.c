/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	for (int i = 0; i < PAIR_DEPTH + 1; i++)
		pair_try(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64); /* <- */
	for (int i = 0; i < PAIR_DEPTH; i++)
		pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
