/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program keeps its own header in the buffer of a shared receive, behind what is expected.
 *
 * Found by: recv-changed
 */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

int main(int argc, char **argv)
{
	struct ibv_srq_init_attr attr = {.attr = {4, 2, 0}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 0, 1, 0, 0}};
	bool mended = pair_mended(argc, argv);
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 2}, *bad;
	struct ibv_sge sge[2];
	struct pair p;

	pair_open(&p);
	init.srq = ibv_create_srq(p.pd, &attr);
	init.send_cq = init.recv_cq = p.b.cq;
	pair_must(init.srq && !ibv_destroy_qp(p.b.qp), "a shared receive queue");
	p.b.qp = ibv_create_qp(p.pd, &init);
	pair_must(p.b.qp != NULL, "a queue pair");
	pair_connect(&p, p.b.qp, p.a.qp);
	pair_reconnect(&p, &p.a, (struct pair_link){0, 0, 14, 7, 6, 1});

	sge[0] = (struct ibv_sge){(uintptr_t)p.b.memory, 64, p.b.mr->lkey};
	sge[1] = (struct ibv_sge){(uintptr_t)p.b.memory + 4096, 4096, p.b.mr->lkey};
	wr.sg_list = sge;
	pair_must(!ibv_post_srq_recv(init.srq, &wr, &bad), "a receive"); /* <- */
	strcpy(p.b.memory + (mended ? 8192 : 6000), "a header");
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 256);
	pair_wait(&p.a);
	pair_wait(&p.b); /* <- */

	pair_must(!ibv_destroy_qp(p.b.qp) && !ibv_destroy_srq(init.srq), "the end");
	p.b.qp = NULL;
	pair_close(&p);
	return 0;
}
