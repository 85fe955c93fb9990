/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a message, behind its header, is a shared mapping that has gone.
 *
 * Found by: memory-unmapped
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

#define SIZE 4096

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	char *payload = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ibv_sge sge[2] = {{.length = 64}, {(uintptr_t)payload, SIZE, 0}};
	struct ibv_send_wr wr = {.sg_list = sge,
				 .num_sge = 2,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	mr = ibv_reg_mr(p.pd, payload, SIZE, 0);
	pair_must(mr != NULL, "a region");
	sge[0].addr = (uintptr_t)p.a.memory;
	sge[0].lkey = p.a.mr->lkey;
	sge[1].lkey = mr->lkey;
	pair_recv(&p.b, 1, 0, 64 + SIZE);
	if (!mended)
		munmap(payload, SIZE);                                 /* <- */
	pair_must(!ibv_post_send(p.a.qp, &wr, &bad), "ibv_post_send"); /* <- */
	pair_wait(&p.a);
	ibv_dereg_mr(mr);
	pair_close(&p);
	return 0;
}
