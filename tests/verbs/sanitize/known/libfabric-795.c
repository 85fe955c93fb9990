/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/issues/795
 *
 * The verbs provider hands out the channel's descriptor, and arms its queue first when somebody
 * reads from it: a program that waits for the descriptor before is not woken by the first message.
 *
 * Found by: wait-unarmed
 */
#include "tests/verbs/sanitize/pair.h"

#include <poll.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pollfd wait = {.events = POLLIN};
	struct ibv_cq *cq;
	struct pair p;
	void *arg;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);
	if (mended)
		ibv_req_notify_cq(p.b.cq, 0);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);

	wait.fd = p.channel->fd;
	while (poll(&wait, 1, -1) != 1)
		;
	ibv_get_cq_event(p.channel, &cq, &arg);
	ibv_ack_cq_events(cq, 1);
	pair_wait(&p.b);
	pair_close(&p);
	return 0;
}
