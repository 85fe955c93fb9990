/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/pull/203
 *
 * With events the bandwidth tests arm, poll sixteen completions and wait for the next event: what
 * was beyond the sixteen waits, and where it was the last of all, so does the test, without end.
 *
 * Found by: lost-wakeup
 */
#include "tests/verbs/sanitize/pair.h"

#define BATCH    4
#define MESSAGES 6

static int handle(struct pair *p, bool mended)
{
	struct ibv_wc wc[BATCH];
	int n, got = 0;

	do {
		n = ibv_poll_cq(p->b.cq, BATCH, wc);
		got += n;
	} while (mended && n);
	return got;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_cq *cq;
	struct pair p;
	int got = 0;
	void *arg;

	pair_open(&p);
	ibv_req_notify_cq(p.b.cq, 0);
	for (unsigned i = 0; i < MESSAGES; i++)
		pair_recv(&p.b, i, 64 * i, 64);
	for (unsigned i = 0; i < MESSAGES; i++)
		pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 64 * i, 64);
	for (unsigned i = 0; i < MESSAGES; i++)
		pair_wait(&p.a);
	while (got < MESSAGES) {
		ibv_get_cq_event(p.channel, &cq, &arg);
		ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(cq, 0);
		got += handle(&p, mended);
	}
	pair_close(&p);
	return 0;
}
