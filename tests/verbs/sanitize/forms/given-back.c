/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of a region that peers may write to are given back to the system.
 *
 * Found by: memory-replaced
 */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>
#include <sys/mman.h>

#define LENGTH 16384

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	char *memory;

	pair_open(&p);
	memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pair_must(memory != MAP_FAILED, "mmap");
	memset(memory, 'x', LENGTH);
	mr = ibv_reg_mr(p.pd, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(mr != NULL, "ibv_reg_mr");
	if (!mended)
		madvise(memory + 4096, 4096, MADV_DONTNEED);
	ibv_poll_cq(p.a.cq, 1, &wc); /* a peer would write now */
	ibv_dereg_mr(mr);
	madvise(memory, LENGTH, MADV_DONTNEED);
	munmap(memory, LENGTH);
	pair_close(&p);
	return 0;
}
