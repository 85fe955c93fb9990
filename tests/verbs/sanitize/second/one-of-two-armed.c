/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two completion queues share a channel: one of sends, one of receives. The program arms that of
 * the receives, and waits for ever for the event of a SEND.
 *
 * Found by: wait-unarmed
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_send_wr wr = {.num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_cq *sends, *cq;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	void *arg;

	pair_open(&p);
	sends = ibv_create_cq(p.context, 4, NULL, p.channel, 0);
	attr.send_cq = sends;
	attr.recv_cq = p.b.cq;
	pair_must(sends && !ibv_destroy_qp(p.b.qp), "queues");
	p.b.qp = ibv_create_qp(p.pd, &attr);
	pair_must(p.b.qp != NULL, "a queue pair");
	pair_connect(&p, p.b.qp, p.b.qp);
	pair_recv(&p.b, 1, 0, 64);

	sge = (struct ibv_sge){(uintptr_t)p.b.memory + 64, 64, p.b.mr->lkey};
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)p.a.memory;
	wr.wr.rdma.rkey = p.a.mr->rkey;
	pair_must(!ibv_req_notify_cq(pair_mended(argc, argv) ? sends : p.b.cq, 0), "arming");
	pair_must(!ibv_post_send(p.b.qp, &wr, &bad), "ibv_post_send");
	pair_must(!ibv_get_cq_event(p.channel, &cq, &arg), "an event"); /* <- */
	ibv_ack_cq_events(cq, 1);
	pair_must(ibv_poll_cq(sends, 1, &wc) == 1, "a completion");

	pair_must(!ibv_destroy_qp(p.b.qp) && !ibv_destroy_cq(sends), "their end");
	p.b.qp = NULL;
	pair_close(&p);
	return 0;
}
