/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client makes its queue pair by ibv_create_qp. Then librdmacm does not answer the reply, and
 * rdma_establish is to be called.
 *
 * Found by: cm-unanswered
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static struct rdma_cm_id *listener;

static void *serve(void *arg)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	meet_accept(id);
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED); /* <- */
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	meet_end(id);
	return arg;
}

static void move(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	pair_must(!rdma_init_qp_attr(id, &attr, &mask), "rdma_init_qp_attr");
	attr.min_rnr_timer = 1;
	pair_must(!ibv_modify_qp(qp, &attr, mask), "a queue pair's state");
}

static void visit(struct rdma_cm_id *id, bool mended)
{
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);
	struct rdma_conn_param how = {.retry_count = 7, .rnr_retry_count = 6};

	move(id, qp, IBV_QPS_INIT);
	how.qp_num = qp->qp_num;
	pair_must(!rdma_connect(id, &how), "rdma_connect");
	meet_event(id->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	move(id, qp, IBV_QPS_RTR);
	move(id, qp, IBV_QPS_RTS);
	if (mended)
		pair_must(!rdma_establish(id), "rdma_establish");
	meet_event(id->channel, RDMA_CM_EVENT_DISCONNECTED); /* <- */
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
}

int main(int argc, char **argv)
{
	pthread_t server;
	struct rdma_cm_id *id;

	listener = meet_listen(8);
	pair_must(!pthread_create(&server, NULL, serve, NULL), "a thread");
	id = meet_call(meet_port(listener));
	visit(id, pair_mended(argc, argv));
	pair_must(!pthread_join(server, NULL), "its end");
	meet_end(id);
	meet_end(listener);
	return 0;
}
