/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

int main(void)
{
	struct ibv_wc wc[2];
	struct pair p;
	int n = 0;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 512);
	pair_recv(&p.b, 2, 8192, 4096);
	strcpy(p.b.memory + 4000, "my own note");

	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	memset(p.a.memory + 8192, 1, 4096);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 8192, 4096);
	pair_wait(&p.a);
	pair_wait(&p.a);
	while (n < 2)
		n += ibv_poll_cq(p.b.cq, 2, wc);

	pair_close(&p);
	return 0;
}
