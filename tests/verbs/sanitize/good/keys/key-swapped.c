/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.a, 1, 0, 64);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64);
	pair_must(pair_wait(&p.a) == IBV_WC_SUCCESS, "the WRITE");

	pair_post(&p.b, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_must(pair_wait(&p.b) == IBV_WC_SUCCESS, "the SEND");

	pair_close(&p);
	return 0;
}
