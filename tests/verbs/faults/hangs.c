/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for what does not come, as its argument says, after it has printed "waits": "receive" (the
 * peer has no receive request), "armed" (an event, of a completion queue that is not armed), "gone"
 * (an answer of a queue pair that is not there), "event" (one of rdma_cm, whose server reads none).
 */
#include "tests/verbs/sanitize/pair.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct pair_link patient = {.timeout = 14, .retry_cnt = 7, .rnr_retry = 7};

static void say_waits(void)
{
	puts("waits");
	fflush(stdout);
}

static void wait_for_receive(struct pair *p)
{
	pair_reconnect(p, &p->a, patient);
	pair_reconnect(p, &p->b, patient);
	pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
}

static void wait_unarmed(struct pair *p)
{
	struct ibv_cq *cq;
	void *arg;

	pair_recv(&p->b, 1, 0, 64);
	pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_must(pair_wait(&p->a) == IBV_WC_SUCCESS, "the message");
	say_waits();
	ibv_get_cq_event(p->channel, &cq, &arg);
}

static void wait_for_gone(struct pair *p)
{
	const struct pair_link for_ever = {.timeout = 0, .retry_cnt = 7, .rnr_retry = 7};

	pair_reconnect(p, &p->a, for_ever);
	pair_must(!ibv_destroy_qp(p->b.qp), "destroying the peer");
	pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
}

static void next_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	pair_must(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	rdma_ack_cm_event(event);
}

static void wait_for_event(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7777)};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *server, *client;

	pair_must(channel && !rdma_create_id(NULL, &server, NULL, RDMA_PS_TCP) &&
			  !rdma_create_id(channel, &client, NULL, RDMA_PS_TCP),
		  "rdma_create_id");
	pair_must(!rdma_bind_addr(server, (struct sockaddr *)&at) && !rdma_listen(server, 1),
		  "listening");
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pair_must(!rdma_resolve_addr(client, NULL, (struct sockaddr *)&at, 2000), "an address");
	next_event(channel);
	pair_must(!rdma_resolve_route(client, 2000), "a route");
	next_event(channel);
	pair_must(!rdma_create_qp(client, NULL, &attr) && !rdma_connect(client, &param),
		  "rdma_connect");
	say_waits();
	next_event(channel);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct pair p;

	if (!strcmp(what, "event")) {
		wait_for_event();
		return 0;
	}
	pair_open(&p);
	if (!strcmp(what, "receive"))
		wait_for_receive(&p);
	else if (!strcmp(what, "armed"))
		wait_unarmed(&p);
	else if (!strcmp(what, "gone"))
		wait_for_gone(&p);
	else
		return 2;
	say_waits();
	pause();
	return 0;
}
