/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache bRPC, https://github.com/apache/brpc/pull/3425
 *
 * With both queues empty, the program arms both and polls only the send queue again. A message
 * that came before the other queue was armed stays there, and the connection waits for ever.
 *
 * Found by: lost-wakeup
 */
#include "tests/verbs/sanitize/pair.h"

static int poll_one(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_cq *send_cq, *cq;
	struct pair p;
	void *arg;

	pair_open(&p);
	send_cq = ibv_create_cq(p.context, 16, NULL, p.channel, 0);
	pair_recv(&p.b, 1, 0, 64);
	pair_must(!poll_one(p.b.cq) && !poll_one(send_cq), "two empty queues");

	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64); /* at this very moment */
	pair_wait(&p.a);

	ibv_req_notify_cq(p.b.cq, 0);
	ibv_req_notify_cq(send_cq, 0);
	if (!poll_one(send_cq) && !(mended && poll_one(p.b.cq))) {
		ibv_get_cq_event(p.channel, &cq, &arg);
		ibv_ack_cq_events(cq, 1);
		poll_one(cq);
	}
	pair_must(!ibv_destroy_cq(send_cq), "ibv_destroy_cq");
	pair_close(&p);
	return 0;
}
