/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	volatile char *last;
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 8192);
	last = p.b.memory + 8191;

	p.a.memory[8191] = 1;
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8192);
	while (!*last) /* <- */
		;
	pair_wait(&p.a);
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
