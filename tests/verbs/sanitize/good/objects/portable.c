/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p); /* RC, two elements, no inline data, four READs */
	pair_recv(&p.b, 1, 4096, 64);

	pair_post(&p.a, IBV_WR_RDMA_WRITE, 0, 64, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8);
	pair_wait(&p.a);
	pair_wait(&p.b);

	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 128,
		  64); /* any peer may write there */
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
