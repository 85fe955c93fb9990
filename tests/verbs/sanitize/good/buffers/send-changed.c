/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 4096);
	pair_recv(&p.b, 2, 4096, 4096);

	strcpy(p.a.memory, "first");
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 4096);
	pair_wait(&p.a);
	strcpy(p.a.memory, "second");
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 4096);
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
