/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/meet.h"

int main(void)
{
	struct rdma_cm_id *listener = meet_listen(4), *client = meet_call(meet_port(listener));
	struct rdma_cm_id *server;

	meet_connect(client);
	server = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	meet_event(client->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */

	meet_end(client);
	meet_end(server);
	meet_end(listener);
	return 0;
}
