/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	p.b.memory[0] = 1;

	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 4096);
	p.a.memory[4095] += p.a.memory[0]; /* <- */
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
