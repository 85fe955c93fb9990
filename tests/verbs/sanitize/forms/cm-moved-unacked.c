/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An id moves to another channel while an event of it is not acknowledged: rdma_migrate_id waits.
 *
 * Found by: events-unacked
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener = meet_listen(8), *client = meet_call(meet_port(listener)), *id;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	meet_connect(client);
	id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	meet_accept(id);
	meet_event(client->channel, RDMA_CM_EVENT_ESTABLISHED);
	pair_must(!rdma_get_cm_event(listener->channel, &event), "an event");
	if (pair_mended(argc, argv))
		rdma_ack_cm_event(event);
	pair_must(!rdma_migrate_id(id, channel), "rdma_migrate_id"); /* <- */
	meet_end(id);
	rdma_destroy_event_channel(channel);
	meet_end(client);
	meet_end(listener);
	return 0;
}
