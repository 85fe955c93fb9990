/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/3118
 *
 * The thread that handles events of rdma_cm destroys the id of one before it acknowledges it.
 * Other threads go on, and the destruction waits for ever.
 *
 * Found by: events-unacked
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>
#include <time.h>

static volatile bool stop;

/* A poller of another queue. */
static void *go_on(void *arg)
{
	const struct timespec nap = {0, 1000000};

	while (!stop)
		nanosleep(&nap, NULL);
	return arg;
}

/* DISCONNECTED ends the connection and its id. */
static void handle(struct rdma_event_channel *channel, bool mended)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	pair_must(!rdma_get_cm_event(channel, &event), "an event"); /* <- */
	id = event->id;
	if (mended)
		rdma_ack_cm_event(event);
	rdma_destroy_qp(id);
	pair_must(!rdma_destroy_id(id), "rdma_destroy_id"); /* <- */
	if (!mended)
		rdma_ack_cm_event(event);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener = meet_listen(4), *client = meet_call(meet_port(listener));
	pthread_t other;

	pair_must(!pthread_create(&other, NULL, go_on, NULL), "a thread");
	meet_connect(client);
	meet_accept(meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST));
	meet_event(client->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	pair_must(!rdma_disconnect(client), "rdma_disconnect");
	handle(listener->channel, pair_mended(argc, argv));
	stop = true;
	pair_must(!pthread_join(other, NULL), "its end");
	meet_end(client);
	meet_end(listener);
	return 0;
}
