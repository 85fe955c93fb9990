/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server keeps the connection requests that it reads, and answers none of them.
 *
 * Found by: cm-unanswered
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

static void serve(struct rdma_cm_id *listener, bool mended)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	if (mended)
		meet_accept(id);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	meet_end(id);
	meet_end(listener);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(8, &port), *id;

	if (listener) {
		serve(listener, pair_mended(argc, argv));
	} else {
		id = meet_call(port);
		meet_connect(id);
		meet_event(id->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
		meet_end(id);
	}
	meet_part(listener);
	return 0;
}
