/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of the sender has a channel of its own. The program waits for ever for its completion
 * in the channel of the receiver.
 *
 * Found by: lost-wakeup
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {2, 2, 1, 1, 0}};
	struct ibv_comp_channel *own;
	struct end from;
	struct ibv_cq *cq;
	struct pair p;
	void *arg;

	pair_open(&p);
	from = p.a;
	own = ibv_create_comp_channel(p.context);
	from.cq = ibv_create_cq(p.context, 4, NULL, own, 0);
	pair_must(from.cq != NULL, "a queue");
	attr.send_cq = attr.recv_cq = from.cq;
	from.qp = ibv_create_qp(p.pd, &attr);
	pair_must(from.qp != NULL, "a queue pair");
	pair_connect(&p, from.qp, from.qp);
	pair_must(!ibv_req_notify_cq(from.cq, 0) && !ibv_req_notify_cq(p.b.cq, 0), "armed");
	pair_recv(&from, 1, 0, 64);
	pair_post(&from, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
	ibv_get_cq_event(pair_mended(argc, argv) ? own : p.channel, &cq, &arg); /* <- */
	ibv_ack_cq_events(cq, 1);
	pair_wait(&from);
	pair_wait(&from);
	pair_must(!ibv_destroy_qp(from.qp) && !ibv_destroy_cq(from.cq) &&
			  !ibv_destroy_comp_channel(own),
		  "the end");
	pair_close(&p);
	return 0;
}
