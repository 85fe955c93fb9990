/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that reads events waits for the first connection's message, and another client's
 * request waits in the channel.
 *
 * Found by: cm-unread
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>
#include <rdma/rdma_verbs.h>

static struct rdma_cm_id *listener;
static bool mended;

static struct rdma_cm_id *take(void)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	meet_accept(id);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_recv(id);
	return id;
}

static void finish(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	pair_must(rdma_get_recv_comp(id, &wc) == 1, "a message"); /* <- */
	meet_end(id);
}

static void *serve(void *arg)
{
	struct rdma_cm_id *first = take(), *second;

	if (!mended)
		finish(first);
	second = take();
	if (mended)
		finish(first);
	finish(second);
	return arg;
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id[2];
	pthread_t server;

	mended = pair_mended(argc, argv);
	listener = meet_listen(8);
	pair_must(!pthread_create(&server, NULL, serve, NULL), "a thread");
	for (int i = 0; i < 2; i++) {
		id[i] = meet_call(meet_port(listener));
		meet_connect(id[i]);
		meet_event(id[i]->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
	}
	for (int i = 0; i < 2; i++)
		meet_send(id[i]);
	pair_must(!pthread_join(server, NULL), "its end");
	for (int i = 0; i < 2; i++)
		meet_end(id[i]);
	meet_end(listener);
	return 0;
}
