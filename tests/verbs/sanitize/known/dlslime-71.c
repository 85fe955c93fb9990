/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DLSlime, https://github.com/DeepLink-org/DLSlime/pull/71
 *
 * A WRITE with immediate data takes a receive of the peer, which posts one when its user asks for
 * the next message. Whose user asks for none lets the other side repeat without end.
 *
 * Found by: peer-unready
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void take(struct end *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

/* The user of that side asks for messages when it has got its answer. */
static void *reader(void *arg)
{
	struct ibv_cq *cq;
	struct end *e = arg;
	void *context;

	ibv_get_cq_event(e->cq->channel, &cq, &context);
	ibv_ack_cq_events(cq, 1);
	take(e);
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	if (!mended)
		pair_reconnect(&p, &p.a,
			       (struct pair_link){0, 0, 14, 7, 7, 1}); /* rnr_retry 7: for ever */
	ibv_req_notify_cq(p.b.cq, 0);
	if (mended)
		pair_recv(&p.b, 1, 0, 64);
	pair_must(!pthread_create(&thread, NULL, reader, &p.b), "a thread");
	pair_post(&p.a, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 0, 64);
	take(&p.a);
	pthread_join(thread, NULL);
	pair_close(&p);
	return 0;
}
