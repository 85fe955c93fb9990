/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server reads DISCONNECTED and goes on to the next event. Its client waits for the end of the
 * connection, which comes when the server disconnects, too.
 *
 * Found by: cm-unanswered
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static struct rdma_cm_id *listener;
static bool mended;

static void *serve(void *arg)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	meet_accept(id);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	if (mended)
		pair_must(!rdma_disconnect(id), "rdma_disconnect");
	meet_end(meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST)); /* <- */
	meet_end(id);
	return arg;
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id, *next;
	pthread_t server;

	mended = pair_mended(argc, argv);
	listener = meet_listen(8);
	pair_must(!pthread_create(&server, NULL, serve, NULL), "a thread");
	id = meet_call(meet_port(listener));
	meet_connect(id);
	meet_event(id->channel, RDMA_CM_EVENT_ESTABLISHED);
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
	meet_event(id->channel, RDMA_CM_EVENT_DISCONNECTED); /* <- */
	next = meet_call(meet_port(listener));
	meet_connect(next);
	pair_must(!pthread_join(server, NULL), "its end");
	meet_end(next);
	meet_end(id);
	meet_end(listener);
	return 0;
}
