/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

int main(void)
{
	struct pair p;

	pair_open(&p);
	memset(p.b.memory, 1, 1024);
	pair_recv(&p.b, 1, 4096, 1024);

	pair_post(&p.a, IBV_WR_RDMA_READ, 0, 0, 1024);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 0, 1024);
	pair_wait(&p.a);
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
