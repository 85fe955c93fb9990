/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server polls for the messages of its first client, and reads no event meanwhile: its backlog is
 * full, and other clients are not connected.
 *
 * Found by: cm-unread
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#define CLIENTS 3

static void serve(struct rdma_cm_id *listener, bool mended)
{
	struct rdma_cm_id *id[CLIENTS];
	struct ibv_wc wc;
	unsigned n = 0;

	do {
		id[n] = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
		meet_accept(id[n]);
		meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
		meet_recv(id[n]);
	} while (++n < CLIENTS && mended);
	while (!ibv_poll_cq(id[0]->recv_cq, 1, &wc)) /* <- */
		;
	while (n--)
		meet_end(id[n]);
	meet_end(listener);
}

/* The server that does it right takes them one after the other. */
static void visit(uint16_t port, bool mended)
{
	struct rdma_cm_id *id[CLIENTS];

	for (unsigned i = 0; i < CLIENTS; i++)
		id[i] = meet_call(port);
	meet_connect(id[0]);
	meet_event(id[0]->channel, RDMA_CM_EVENT_ESTABLISHED);
	for (unsigned i = 1; i < CLIENTS; i++) {
		meet_connect(id[i]);
		if (i + 1 == CLIENTS || mended)
			meet_event(id[i]->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
	}
	meet_send(id[0]);
	meet_event(id[0]->channel, RDMA_CM_EVENT_DISCONNECTED);
	for (unsigned i = 0; i < CLIENTS; i++)
		meet_end(id[i]);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(1, &port);

	if (listener)
		serve(listener, pair_mended(argc, argv));
	else
		visit(port, pair_mended(argc, argv));
	meet_part(listener);
	return 0;
}
