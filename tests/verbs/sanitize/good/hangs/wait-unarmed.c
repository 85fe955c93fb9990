/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_cq *cq;
	struct pair p;
	void *arg;

	pair_open(&p);
	ibv_req_notify_cq(p.b.cq, 0);
	for (int i = 0; i < 2; i++) {
		pair_recv(&p.b, 1, 0, 64);
		pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
		pair_wait(&p.a);

		ibv_get_cq_event(p.channel, &cq, &arg);
		ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(cq, 0);
		pair_wait(&p.b);
	}
	pair_close(&p);
	return 0;
}
