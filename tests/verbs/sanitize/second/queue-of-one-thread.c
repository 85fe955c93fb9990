/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A completion queue without locks is read by one thread while another reads it.
 *
 * Found by: threads-clash
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static void *poll(void *cq)
{
	struct ibv_wc wc;

	ibv_poll_cq(cq, 1, &wc); /* <- */
	return NULL;
}

int main(int argc, char **argv)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_poll_cq_attr none = {0};
	struct ibv_cq_ex *cq;
	pthread_t thread;
	struct pair p;

	attr.flags = pair_mended(argc, argv) ? 0 : IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	pair_open(&p);
	cq = ibv_create_cq_ex(p.context, &attr);
	pair_must(cq && !ibv_destroy_qp(p.a.qp), "a completion queue");
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	p.a.qp = ibv_create_qp(p.pd, &init);
	pair_must(p.a.qp != NULL, "a queue pair");
	pair_connect(&p, p.a.qp, p.b.qp);
	pair_reconnect(&p, &p.b, (struct pair_link){0, 0, 14, 7, 6, 1});
	pair_post(&p.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64);

	while (ibv_start_poll(cq, &none)) /* <- */
		;
	pair_must(!pthread_create(&thread, NULL, poll, ibv_cq_ex_to_cq(cq)), "a thread");
	if (attr.flags)
		pair_must(!pthread_join(thread, NULL), "its end");
	ibv_end_poll(cq);
	if (!attr.flags)
		pair_must(!pthread_join(thread, NULL), "its end");
	pair_must(!ibv_destroy_qp(p.a.qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "the end");
	p.a.qp = NULL;
	pair_close(&p);
	return 0;
}
