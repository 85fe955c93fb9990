/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric for Cray, https://github.com/ofi-cray/libfabric-cray/issues/1000
 *
 * Memory that a peer has the key of is unmapped and mapped again while it is registered: a WRITE
 * goes to pages that are nobody's any more, and succeeds.
 *
 * Found by: memory-replaced
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

#define LENGTH 4096

static char *map(void *at)
{
	void *p = mmap(at, LENGTH, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	pair_must(p != MAP_FAILED, "mmap");
	return p;
}

static struct ibv_mr *reg(struct pair *p, void *at)
{
	struct ibv_mr *mr =
		ibv_reg_mr(p->pd, at, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	pair_must(mr != NULL, "ibv_reg_mr");
	return mr;
}

static void put(struct pair *p, const struct ibv_mr *to)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory, 64, p->a.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)to->addr, to->rkey}},
			   *bad;

	pair_must(!ibv_post_send(p->a.qp, &wr, &bad), "ibv_post_send");
	pair_wait(&p->a);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct pair p;
	char *memory;

	pair_open(&p);
	memory = map(NULL);
	mr = reg(&p, memory);
	if (mended)
		ibv_dereg_mr(mr);
	munmap(memory, LENGTH);
	map(memory);
	if (mended)
		mr = reg(&p, memory);
	put(&p, mr);
	ibv_dereg_mr(mr);
	munmap(memory, LENGTH);
	pair_close(&p);
	return 0;
}
