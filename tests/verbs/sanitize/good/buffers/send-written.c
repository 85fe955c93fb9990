/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	char read;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 8192);
	pair_recv(&p.b, 2, 8192, 8192);

	pair_post(&p.a, IBV_WR_SEND, 0, 0, 8192);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 4096, 8192);
	read = p.a.memory[100]; /* reading is no mistake, nor is what nobody sends */
	p.a.memory[12288] = read;
	pair_wait(&p.a);
	p.a.memory[100] = 1;
	pair_wait(&p.b);
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
