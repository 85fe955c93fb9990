/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	struct pair p;
	void *arg;

	pair_open(&p);
	ibv_req_notify_cq(p.b.cq, 0);
	pair_recv(&p.b, 1, 0, 64);
	pair_recv(&p.b, 2, 64, 64);
	pair_post(&p.a, IBV_WR_SEND, 0, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a); /* so both messages are there */

	ibv_get_cq_event(p.channel, &cq, &arg);
	ibv_ack_cq_events(cq, 1);
	while (ibv_poll_cq(cq, 1, &wc))
		;

	ibv_destroy_qp(p.b.qp);
	ibv_destroy_cq(p.b.cq);
	p.b.qp = NULL;
	p.b.cq = NULL;
	pair_close(&p);
	return 0;
}
