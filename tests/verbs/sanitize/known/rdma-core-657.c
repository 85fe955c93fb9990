/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pyverbs, https://github.com/linux-rdma/rdma-core/pull/657
 *
 * An exception between the event and its acknowledgement ends the program's block, and Python
 * destroys the completion queue as it is: that waits for ever.
 *
 * Found by: events-unacked
 */
#include "tests/verbs/sanitize/pair.h"

/* What the program raises is an error of its own. */
static bool handle_event(struct pair *p, bool mended)
{
	struct ibv_cq *cq;
	void *context;

	pair_must(!ibv_get_cq_event(p->channel, &cq, &context), "ibv_get_cq_event");
	if (!mended)
		return false;
	ibv_ack_cq_events(cq, 1);
	return pair_wait(&p->b) == IBV_WC_SUCCESS;
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p);
	pair_must(!ibv_req_notify_cq(p.b.cq, 0), "ibv_req_notify_cq");
	pair_recv(&p.b, 1, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	handle_event(&p, pair_mended(argc, argv));

	ibv_destroy_qp(p.b.qp);
	ibv_destroy_cq(p.b.cq);
	p.b.qp = NULL;
	p.b.cq = NULL;
	pair_close(&p);
	return 0;
}
