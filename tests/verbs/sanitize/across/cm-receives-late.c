/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server takes the value 0 for the client's repetitions, and posts its receive too late.
 *
 * Found by: recv-missing
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

static void serve(struct rdma_cm_id *listener, bool mended)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param how = {.rnr_retry_count = 0}; /* rnr_retry 0: not once */

	meet_qp(id);
	if (mended)
		meet_recv(id);
	pair_must(!rdma_accept(id, &how), "rdma_accept");
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	if (!mended)
		meet_recv(id);
	meet_end(id);
	meet_end(listener);
}

static void visit(uint16_t port)
{
	struct rdma_cm_id *id = meet_call(port);
	struct ibv_wc wc;

	meet_connect(id);
	meet_event(id->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_send(id); /* <- */
	while (!ibv_poll_cq(id->send_cq, 1, &wc))
		;
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
	meet_end(id);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(4, &port);

	if (listener)
		serve(listener, pair_mended(argc, argv));
	else
		visit(port);
	meet_part(listener);
	return 0;
}
