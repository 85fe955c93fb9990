/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>
#include <sys/mman.h>

#define LENGTH 8192

static void *map(void *at)
{
	void *p = mmap(at, LENGTH, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	pair_must(p != MAP_FAILED, "mmap");
	memset(p, 'x', LENGTH);
	return p;
}

int main(void)
{
	struct end e;
	struct pair p;

	pair_open(&p);
	e = p.a;
	e.memory = map(NULL);
	e.mr = ibv_reg_mr(p.pd, e.memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	ibv_dereg_mr(e.mr);
	map(e.memory);
	e.mr = ibv_reg_mr(p.pd, e.memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	pair_recv(&p.b, 1, 0, 64);
	pair_post(&e, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&e);
	ibv_dereg_mr(e.mr);
	munmap(e.memory, LENGTH);
	pair_close(&p);
	return 0;
}
