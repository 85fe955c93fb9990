/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client posts its receive, connects and polls for the greeting. It does not read the event that
 * would establish the connection, so the server does not greet.
 *
 * Found by: cm-unread
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

static void serve(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	meet_accept(id);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
	meet_send(id);
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	meet_end(id);
	meet_end(listener);
}

static void visit(uint16_t port, bool mended)
{
	struct rdma_cm_id *id = meet_call(port);
	struct ibv_wc wc;

	meet_connect(id);
	meet_recv(id);
	if (mended)
		meet_event(id->channel, RDMA_CM_EVENT_ESTABLISHED);
	while (!ibv_poll_cq(id->recv_cq, 1, &wc)) /* <- */
		;
	meet_end(id);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(8, &port);

	if (listener)
		serve(listener);
	else
		visit(port, pair_mended(argc, argv));
	meet_part(listener);
	return 0;
}
