/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	p.b.mr->rkey ^= 1u << 31; /* a key that the other side does not know */

	for (int i = 0; i < 20; i++) {
		pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64);
		if (pair_wait(&p.a) != IBV_WC_SUCCESS)
			break;
	}
	pair_close(&p);
	return 0;
}
