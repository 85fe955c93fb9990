/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
