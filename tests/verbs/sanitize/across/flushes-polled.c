/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A WRITE that is not signaled is refused. The client polls the queue of its receives alone: a
 * flush comes there, and the cause stays in the queue of sends.
 *
 * Found by: rkey-unknown
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define NO_KEY 0x5a5a5a5au

/* A queue of its own for what the queue pair sends. */
static struct ibv_qp *divided(struct far *f, struct ibv_cq **sends)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

	*sends = ibv_create_cq(f->context, 16, NULL, NULL, 0);
	attr.send_cq = *sends;
	attr.recv_cq = f->cq;
	return *sends ? ibv_create_qp(f->pd, &attr) : NULL;
}

static void write_one(struct far *f, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = f->there.addr;
	wr.wr.rdma.rkey = rkey;
	pair_must(!ibv_post_send(f->qp, &wr, &bad), "ibv_post_send");
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_cq *sends;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = divided(&f, &sends);
	pair_must(f.qp != NULL, "a queue pair");
	far_exchange(&f);
	far_connect(&f, far_usual());
	far_recv(&f, 64);
	far_meet(&f);
	if (mended)
		write_one(&f, f.there.rkey);
	else if (!f.server)
		write_one(&f, NO_KEY); /* <- */
	if (mended || !f.server)
		pair_must(far_wait(&f) == (mended ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR),
			  "a message");
	far_meet(&f);
	pair_must(!ibv_destroy_qp(f.qp), "ibv_destroy_qp");
	f.qp = NULL;
	pair_must(!ibv_destroy_cq(sends), "ibv_destroy_cq");
	far_close(&f);
	return 0;
}
