/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main thread destroys the listener and its channel, and joins the thread that waits for their
 * events: this waits for ever.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static struct rdma_cm_id *listener;

static void *serve(void *arg)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	pair_must(!rdma_reject(id, NULL, 0), "rdma_reject");
	meet_end(id);
	return arg;
}

/* A request of our own ends the thread's wait. */
static void wake(void)
{
	struct rdma_cm_id *client = meet_call(meet_port(listener));

	meet_connect(client);
	meet_event(client->channel, RDMA_CM_EVENT_REJECTED);
	meet_end(client);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t server;

	listener = meet_listen(4);
	pair_must(!pthread_create(&server, NULL, serve, NULL), "a thread");
	if (mended)
		wake();
	else
		meet_end(listener);
	pair_must(!pthread_join(server, NULL), "its end");
	if (mended)
		meet_end(listener);
	return 0;
}
