/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target of a WRITE was unmapped while it is registered.
 *
 * Found by: memory-replaced
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct pair p;
	char *old, *memory;

	pair_open(&p);
	old = p.b.memory;
	memory =
		mmap(NULL, PAIR_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pair_must(memory != MAP_FAILED, "mmap");
	mr = ibv_reg_mr(p.pd, memory, PAIR_MEMORY,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(mr && !ibv_dereg_mr(p.b.mr), "ibv_reg_mr");
	p.b.mr = mr;
	p.b.memory = memory;
	if (!mended)
		munmap(memory + 8192, 8192);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 8192, 256);
	pair_wait(&p.a); /* with an error, or not: that depends on the adapter */
	p.b.memory = old;
	pair_close(&p);
	munmap(memory, PAIR_MEMORY);
	return 0;
}
