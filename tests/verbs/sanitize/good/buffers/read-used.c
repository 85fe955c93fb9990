/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	p.b.memory[0] = 1;

	pair_post(&p.a, IBV_WR_RDMA_READ, 0, 0, 4096);
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 4096, 4096);
	pair_wait(&p.a); /* of the second, which says it of both */
	p.a.memory[4095] += p.a.memory[0];
	pair_must(p.a.memory[4095] == 1, "what was read");

	pair_close(&p);
	return 0;
}
