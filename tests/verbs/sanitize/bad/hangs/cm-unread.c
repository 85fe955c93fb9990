/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/meet.h"

int main(void)
{
	struct rdma_cm_id *listener = meet_listen(4), *client = meet_call(meet_port(listener));

	meet_connect(client);
	meet_event(client->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */

	meet_end(client);
	meet_end(listener);
	return 0;
}
