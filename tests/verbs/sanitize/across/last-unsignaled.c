/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each second WRITE is signaled, and the client waits for the completion of the last one, which is
 * not: by an event. What the server waits for meanwhile, a word on a socket, does not matter.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define WRITES 5

/* A queue with a channel in the place of the usual one. */
static struct ibv_comp_channel *with_events(struct far *f)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(f->context);

	pair_must(channel && !ibv_destroy_cq(f->cq), "a channel");
	f->cq = ibv_create_cq(f->context, FAR_DEPTH, NULL, channel, 0);
	pair_must(f->cq && !ibv_req_notify_cq(f->cq, 0), "a queue, armed");
	return channel;
}

static void write_one(struct far *f, int i, bool signaled)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = (uint64_t)i,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = signaled ? IBV_SEND_SIGNALED : 0},
			   *bad;

	wr.wr.rdma.remote_addr = f->there.addr;
	wr.wr.rdma.rkey = f->there.rkey;
	pair_must(!ibv_post_send(f->qp, &wr, &bad), "ibv_post_send");
}

static void wait_for_last(struct ibv_comp_channel *channel)
{
	struct ibv_wc wc = {0};
	struct ibv_cq *cq;
	void *arg;

	while (wc.wr_id != WRITES - 1) {
		pair_must(!ibv_get_cq_event(channel, &cq, &arg), "an event"); /* <- */
		ibv_ack_cq_events(cq, 1);
		pair_must(!ibv_req_notify_cq(cq, 0), "arming");
		while (ibv_poll_cq(cq, 1, &wc) > 0)
			pair_must(wc.status == IBV_WC_SUCCESS, "a WRITE");
	}
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_comp_channel *channel;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	channel = with_events(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		for (int i = 0; i < WRITES; i++)
			write_one(&f, i, i % 2 || (mended && i == WRITES - 1));
		wait_for_last(channel);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
