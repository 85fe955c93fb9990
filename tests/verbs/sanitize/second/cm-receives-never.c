/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server posts no receive, and waits for the next event of rdma_cm. Its client sends, with
 * rnr_retry 7: that is repeated for ever. It polls for a limited time only.
 *
 * Found by: peer-elsewhere
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <time.h>

#define LIMIT_S 16 /* a busy machine finds it late */

static void serve(struct rdma_cm_id *listener, bool mended)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param how = {.rnr_retry_count = 7};

	meet_qp(id);
	if (mended)
		meet_recv(id);
	pair_must(!rdma_accept(id, &how), "rdma_accept");
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	meet_end(id);
	meet_end(listener);
}

static void call(uint16_t port)
{
	struct rdma_conn_param how = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_cm_id *id = meet_call(port);
	const time_t end = time(NULL) + LIMIT_S;
	struct ibv_wc wc;

	meet_qp(id);
	pair_must(!rdma_connect(id, &how), "rdma_connect");
	meet_event(id->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_send(id);
	while (!ibv_poll_cq(id->send_cq, 1, &wc) && time(NULL) < end)
		;
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
	meet_event(id->channel, RDMA_CM_EVENT_DISCONNECTED);
	meet_end(id);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(8, &port);

	if (listener)
		serve(listener, pair_mended(argc, argv));
	else
		call(port);
	meet_part(listener);
	return 0;
}
