/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;
	struct ibv_context *other;
	struct ibv_pd *pd;
	struct ibv_mr *mr, *own;

	pair_open(&p);
	other = ibv_open_device(p.context->device);
	pd = other ? ibv_alloc_pd(other) : NULL;
	mr = pd ? ibv_reg_mr(pd, p.a.memory, PAIR_MEMORY, 0) : NULL; /* <- */
	pair_must(mr != NULL, "a region of another context");

	own = p.a.mr;
	p.a.mr = mr;
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64); /* <- */
	pair_wait(&p.a);

	p.a.mr = own;
	pair_must(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(other), "the end");
	pair_close(&p);
	return 0;
}
