/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TensorPipe, https://github.com/pytorch/tensorpipe/pull/414
 *
 * The send queue has room for the outstanding WRITEs, but not for the SENDs that acknowledge data
 * of the other side. A post fails that the program takes for safe.
 *
 * Found by: queue-overrun
 */
#include "tests/verbs/sanitize/pair.h"

#define WRITES 16
#define ACKS   4

static struct end open_end_with(struct pair *p, uint32_t max_send_wr)
{
	struct end e = p->a;
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {max_send_wr, ACKS, 1, 1, 0},
					.send_cq = e.cq,
					.recv_cq = e.cq};

	e.qp = ibv_create_qp(p->pd, &attr);
	pair_must(e.qp != NULL, "a queue pair");
	pair_connect(p, e.qp, e.qp); /* its peer does not matter */
	return e;
}

int main(int argc, char **argv)
{
	struct pair p;
	struct end e;
	int sent = 0;

	pair_open(&p);
	e = open_end_with(&p, pair_mended(argc, argv) ? WRITES + ACKS : WRITES);
	for (int i = 0; i < ACKS; i++)
		pair_recv(&e, 1, 8192 + 64 * i, 64);
	for (int i = 0; i < WRITES; i++)
		pair_post(&e, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 64 * i, 64);
	for (int i = 0; i < ACKS; i++)
		sent += !pair_try(&e, IBV_WR_SEND, IBV_SEND_SIGNALED, 4096, 64);
	for (int i = 0; i < WRITES + 2 * sent; i++)
		pair_wait(&e);
	ibv_destroy_qp(e.qp);
	pair_close(&p);
	return 0;
}
