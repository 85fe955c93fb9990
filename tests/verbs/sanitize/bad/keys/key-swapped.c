/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	uint32_t lkey;

	pair_open(&p);
	lkey = p.b.mr->lkey;
	p.b.mr->lkey = p.b.mr->rkey; /* b takes one for the other, and so does a, to whom it */
	p.b.mr->rkey = lkey;         /* has told them */

	pair_recv(&p.a, 1, 0, 64);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);                                              /* <- */

	pair_post(&p.b, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
