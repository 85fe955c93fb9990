/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that was freed too early goes back to the system by malloc_trim.
 *
 * Found by: memory-replaced
 */
#include "tests/verbs/sanitize/pair.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH (1 << 20)

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	char *memory, *behind;

	mallopt(M_MMAP_THRESHOLD, 4 * LENGTH);
	pair_open(&p);
	memory = malloc(LENGTH);
	behind = malloc(64);
	pair_must(memory && behind, "memory");
	memset(memory, 'x', LENGTH);
	mr = ibv_reg_mr(p.pd, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(mr != NULL, "ibv_reg_mr");
	if (mended)
		ibv_dereg_mr(mr);
	free(memory);
	malloc_trim(0);
	ibv_poll_cq(p.a.cq, 1, &wc); /* a peer would write now */
	if (!mended)
		ibv_dereg_mr(mr);
	free(behind);
	pair_close(&p);
	return 0;
}
