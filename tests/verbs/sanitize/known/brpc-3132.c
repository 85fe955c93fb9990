/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache bRPC, https://github.com/apache/brpc/issues/3132
 *
 * Sends and receives complete to one queue, which is armed for solicited events only. The
 * completion of a send raises none, so that its place in the send queue is not given back while
 * the peer is silent.
 *
 * Found by: wait-unarmed
 */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	int solicited_only = !pair_mended(argc, argv);
	struct ibv_cq *cq;
	struct pair p;
	void *arg;

	pair_open(&p);
	pair_recv(&p.a, 1, 0, 64);
	pair_recv(&p.b, 2, 0, 64);
	ibv_req_notify_cq(p.b.cq, solicited_only);
	pair_post(&p.b, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);

	ibv_get_cq_event(p.channel, &cq, &arg);
	ibv_ack_cq_events(cq, 1);
	pair_wait(&p.b); /* the send */
	pair_close(&p);
	return 0;
}
