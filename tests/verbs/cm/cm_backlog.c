/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that ask a server with a backlog of 1, all before it looks: each request that finds no
 * room comes again, and each client connects. An alarm ends a program that hangs.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEADLINE_S 240
#define CLIENTS    5

static struct rdma_event_channel *at_server, *at_client;
static struct rdma_cm_id *listener, *client[CLIENTS], *accepted[CLIENTS];
static struct sockaddr_in address = {.sin_family = AF_INET};
static struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
static unsigned n_accepted, n_connected;

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_backlog.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;

	CHECK(rdma_get_cm_event(channel, &e) == 0);
	if (e->event != type)
		fprintf(stderr, "%s, status %d\n", rdma_event_str(e->event), e->status);
	CHECK(e->event == type);
	id = e->id;
	CHECK(rdma_ack_cm_event(e) == 0);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	CHECK(rdma_create_qp(id, NULL, &attr) == 0);
}

static void listen_here(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *device;
	union ibv_gid gid;

	CHECK(list && list[0]);
	device = ibv_open_device(list[0]);
	CHECK(device && ibv_query_gid(device, 1, 0, &gid) == 0);
	CHECK(ibv_close_device(device) == 0);
	ibv_free_device_list(list);
	memcpy(&address.sin_addr, gid.raw + 12, sizeof(address.sin_addr));
	CHECK(rdma_create_id(at_server, &listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(listener, 1) == 0);
	address.sin_port = rdma_get_src_port(listener);
}

static struct rdma_cm_id *resolve(void)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(at_client, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) == 0);
	expect(at_client, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(id, 2000) == 0);
	expect(at_client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	return id;
}

static void on_server(void)
{
	struct rdma_cm_event *e;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	CHECK(rdma_get_cm_event(at_server, &e) == 0);
	type = e->event;
	id = e->id;
	CHECK(rdma_ack_cm_event(e) == 0);
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		return;
	CHECK(type == RDMA_CM_EVENT_CONNECT_REQUEST && n_accepted < CLIENTS);
	accepted[n_accepted++] = id;
	make_qp(id);
	CHECK(rdma_accept(id, &param) == 0);
}

static void serve(void)
{
	struct pollfd p[2] = {{at_server->fd, POLLIN, 0}, {at_client->fd, POLLIN, 0}};

	CHECK(poll(p, 2, -1) > 0);
	if (p[0].revents)
		on_server();
	if (p[1].revents) {
		expect(at_client, RDMA_CM_EVENT_ESTABLISHED);
		n_connected++;
	}
}

static void destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

int main(void)
{
	alarm(DEADLINE_S);
	at_server = rdma_create_event_channel();
	at_client = rdma_create_event_channel();
	CHECK(at_server && at_client);
	listen_here();
	for (unsigned i = 0; i < CLIENTS; i++)
		client[i] = resolve();
	for (unsigned i = 0; i < CLIENTS; i++)
		CHECK(rdma_connect(client[i], &param) == 0);
	while (n_connected < CLIENTS)
		serve();
	for (unsigned i = 0; i < CLIENTS; i++) {
		destroy(client[i]);
		destroy(accepted[i]);
	}
	CHECK(rdma_destroy_id(listener) == 0);
	rdma_destroy_event_channel(at_server);
	rdma_destroy_event_channel(at_client);
	return 0;
}
