/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Valkey, https://github.com/valkey-io/valkey/pull/2430
 *
 * The client acknowledges its event in each iteration of its loop over completions. So it
 * acknowledges more events than it has read. (rdma_poll_wait of fio 3.33 acknowledges as many
 * events as it has polled completions.)
 *
 * Found by: events-overacked
 */
#include "tests/verbs/sanitize/pair.h"

/* One event, and all completions that there are. */
static void handle_cq(struct ibv_comp_channel *channel, bool mended)
{
	bool need_ack = true;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *arg;

	ibv_get_cq_event(channel, &cq, &arg);
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (need_ack)
			ibv_ack_cq_events(cq, 1);
		need_ack = !mended;
	}
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p);
	ibv_req_notify_cq(p.b.cq, 0);
	pair_recv(&p.b, 1, 0, 64);
	pair_recv(&p.b, 2, 64, 64);
	pair_post(&p.a, IBV_WR_SEND, 0, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	handle_cq(p.channel, pair_mended(argc, argv));
	pair_close(&p);
	return 0;
}
