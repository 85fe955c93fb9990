/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

#define LENGTH 4096

int main(void)
{
	struct end e;
	struct pair p;

	pair_open(&p);
	e = p.b;
	e.memory = malloc(LENGTH);
	pair_must(e.memory != NULL, "memory");
	e.mr = ibv_reg_mr(p.pd, e.memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	pair_recv(&e, 1, 2048, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_wait(&e);
	ibv_dereg_mr(e.mr);
	free(e.memory);
	pair_close(&p);
	return 0;
}
