/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	uint32_t lkey;

	pair_open(&p);
	lkey = p.a.mr->lkey;
	pair_recv(&p.b, 1, 0, 64);

	p.a.mr->lkey = lkey ^ 0x80000000;                       /* a bit of it was overwritten */
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64); /* <- */
	p.a.mr->lkey = lkey;
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
