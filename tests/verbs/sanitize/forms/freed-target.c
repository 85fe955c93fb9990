/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer, here of the same process, writes to memory that was freed.
 *
 * Found by: memory-freed
 */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	char *old, *memory;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	old = p.b.memory;
	memory = malloc(PAIR_MEMORY);
	mr = ibv_reg_mr(p.pd, memory, PAIR_MEMORY,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(mr != NULL, "ibv_reg_mr");
	ibv_dereg_mr(p.b.mr);
	p.b.mr = mr;
	p.b.memory = memory;
	if (!mended)
		free(memory);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 4096, 256);
	pair_wait(&p.a);
	p.b.memory = old;
	if (mended) {
		ibv_dereg_mr(mr);
		free(memory);
		p.b.mr = NULL;
	}
	pair_close(&p);
	return 0;
}
