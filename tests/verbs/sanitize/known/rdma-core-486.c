/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma-core, https://github.com/linux-rdma/rdma-core/pull/486
 *
 * rping with a queue pair of its own making: rdma_disconnect leaves the state of such a one alone,
 * and the thread of completions waits for the flush of receives that nobody asked for.
 *
 * Found by: peer-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

/* Ends with the first completion that failed, as all of them do in the end. */
static void *watch_completions(void *arg)
{
	struct end *e = arg;
	struct ibv_wc wc = {.status = IBV_WC_SUCCESS};
	struct ibv_cq *cq;
	void *context;

	while (wc.status == IBV_WC_SUCCESS) {
		ibv_get_cq_event(e->cq->channel, &cq, &context);
		ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(cq, 0);
		while (ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	pthread_t thread;
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);
	ibv_req_notify_cq(p.b.cq, 0);
	pair_must(!pthread_create(&thread, NULL, watch_completions, &p.b), "a thread");

	pair_must(!ibv_destroy_qp(p.a.qp), "the peer's end");
	p.a.qp = NULL;
	if (mended)
		pair_must(!ibv_modify_qp(p.b.qp, &error, IBV_QP_STATE), "moving to ERR");
	pthread_join(thread, NULL);
	pair_close(&p);
	return 0;
}
