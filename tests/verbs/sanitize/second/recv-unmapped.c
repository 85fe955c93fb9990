/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of a posted receive is unmapped, and the message comes and fills the whole receive.
 *
 * Found by: memory-unmapped
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
	char *more = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_sge sge = {(uintptr_t)more, 64, 0};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	mr = ibv_reg_mr(p.pd, more, 4096, IBV_ACCESS_LOCAL_WRITE);
	pair_must(mr != NULL, "a region");
	sge.lkey = mr->lkey;
	pair_must(!ibv_post_recv(p.b.qp, &wr, &bad), "ibv_post_recv"); /* <- */
	if (!mended)
		munmap(more, 4096); /* <- */
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.b); /* <- */
	pair_wait(&p.a);
	ibv_dereg_mr(mr);
	if (mended)
		munmap(more, 4096);
	pair_close(&p);
	return 0;
}
