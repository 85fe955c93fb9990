/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 8192);
	pair_recv(&p.b, 2, 8192, 8000);
	p.b.memory[8192 + 8000] = 1; /* behind the buffer */

	p.a.memory[8191] = 1;
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8192);
	pair_wait(&p.a);
	pair_wait(&p.b);
	pair_must(p.b.memory[8191] == 1, "the message");

	pair_close(&p);
	return 0;
}
