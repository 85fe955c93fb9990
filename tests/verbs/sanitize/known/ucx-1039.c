/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UCX, https://github.com/openucx/ucx/issues/1039
 *
 * Events of two completion queues are read from one channel and all acknowledged on the last
 * queue. Destroying the other queue blocks for ever.
 *
 * Found by: events-unacked
 */
#include "tests/verbs/sanitize/pair.h"

#define EVENTS 2

/* A second queue pair of b's side, connected to itself, with a queue on the same channel. */
static struct end open_second(struct pair *p)
{
	struct end e = {.mr = p->b.mr, .memory = p->b.memory};
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

	e.cq = ibv_create_cq(p->context, 16, NULL, p->channel, 0);
	attr.send_cq = attr.recv_cq = e.cq;
	e.qp = e.cq ? ibv_create_qp(p->pd, &attr) : NULL;
	pair_must(e.qp != NULL, "a second queue pair");
	pair_connect(p, e.qp, e.qp);
	return e;
}

static void read_events(struct pair *p, bool mended)
{
	struct ibv_cq *cq;
	void *arg;

	for (int i = 0; i < EVENTS; i++) {
		ibv_get_cq_event(p->channel, &cq, &arg);
		if (mended)
			ibv_ack_cq_events(cq, 1);
	}
	if (!mended)
		ibv_ack_cq_events(cq, EVENTS);
}

int main(int argc, char **argv)
{
	struct end second;
	struct pair p;

	pair_open(&p);
	second = open_second(&p);
	ibv_req_notify_cq(p.b.cq, 0);
	ibv_req_notify_cq(second.cq, 0);
	pair_recv(&p.b, 1, 0, 64);
	pair_recv(&second, 1, 64, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_post(&second, IBV_WR_SEND, IBV_SEND_SIGNALED, 128, 64);
	read_events(&p, pair_mended(argc, argv));

	ibv_destroy_qp(p.b.qp);
	ibv_destroy_cq(p.b.cq);
	ibv_destroy_qp(second.qp);
	ibv_destroy_cq(second.cq);
	p.b.qp = NULL;
	p.b.cq = NULL;
	pair_close(&p);
	return 0;
}
