/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of rdma_cm for faulty programs. See meet.h. */
#include "meet.h"

#include "tests/verbs/sanitize/pair.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESOLVE_MS 5000

static struct rdma_cm_id *make_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	pair_must(channel && !rdma_create_id(channel, &id, channel, RDMA_PS_TCP), "an id");
	return id;
}

struct rdma_cm_id *meet_listen(int backlog)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_cm_id *id = make_id();

	pair_must(!rdma_bind_addr(id, (struct sockaddr *)&at) && !rdma_listen(id, backlog),
		  "a listener");
	return id;
}

uint16_t meet_port(struct rdma_cm_id *listener)
{
	return ntohs(rdma_get_src_port(listener));
}

struct rdma_cm_id *meet_call(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_cm_id *id = make_id();

	pair_must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, RESOLVE_MS), "an address");
	meet_event(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	pair_must(!rdma_resolve_route(id, RESOLVE_MS), "a route");
	meet_event(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

void meet_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

	pair_must(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

void meet_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param how = {.retry_count = 7, .rnr_retry_count = 6};

	meet_qp(id);
	pair_must(!rdma_connect(id, &how), "rdma_connect");
}

void meet_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param how = {.rnr_retry_count = 6};

	meet_qp(id);
	pair_must(!rdma_accept(id, &how), "rdma_accept");
}

struct rdma_cm_id *meet_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	pair_must(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	id = event->id;
	if (event->event != type)
		fprintf(stderr, "%s\n", rdma_event_str(event->event));
	pair_must(event->event == type, rdma_event_str(type));
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		id->context = NULL; /* it has the listener's channel */
	pair_must(!rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return id;
}

void meet_end(struct rdma_cm_id *id)
{
	struct rdma_event_channel *channel = id && id->context == id->channel ? id->channel : NULL;

	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	pair_must(!rdma_destroy_id(id), "rdma_destroy_id");
	if (channel)
		rdma_destroy_event_channel(channel);
}

void meet_recv(struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad;

	pair_must(!ibv_post_recv(id->qp, &wr, &bad), "a receive");
}

void meet_send(struct rdma_cm_id *id)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	pair_must(!ibv_post_send(id->qp, &wr, &bad), "a message");
}

struct rdma_cm_id *meet_fork(int backlog, uint16_t *port)
{
	struct rdma_cm_id *listener = NULL;
	int told[2];

	pair_must(!pipe(told), "a pipe");
	if (!fork()) {
		listener = meet_listen(backlog);
		*port = meet_port(listener);
		pair_must(write(told[1], port, sizeof(*port)) == sizeof(*port), "the port");
	} else {
		pair_must(read(told[0], port, sizeof(*port)) == sizeof(*port), "the port");
	}
	close(told[0]);
	close(told[1]);
	return listener;
}

void meet_part(const struct rdma_cm_id *listener)
{
	int status;

	if (listener)
		exit(0);
	pair_must(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status), "the server");
}
