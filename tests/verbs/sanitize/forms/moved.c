/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A registered buffer grows by mremap, and something else comes where it was.
 *
 * Found by: memory-replaced
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

#define LENGTH 8192

static void *map(void *at, size_t length)
{
	void *p = mmap(at, length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	pair_must(p != MAP_FAILED, "mmap");
	return p;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct end e;
	struct pair p;
	void *to;

	pair_open(&p);
	e = p.b;
	to = map(NULL, 2 * LENGTH);
	e.memory = map(NULL, LENGTH);
	e.mr = ibv_reg_mr(p.pd, e.memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	pair_must(e.mr != NULL, "ibv_reg_mr");
	if (!mended) {
		mremap(e.memory, LENGTH, 2 * LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		map(e.memory, LENGTH);
	}
	pair_recv(&e, 1, 4096, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_wait(&e);
	ibv_dereg_mr(e.mr);
	pair_close(&p);
	return 0;
}
