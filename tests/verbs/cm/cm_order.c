/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client ends its connection and makes the next one, ROUNDS times: cm_order ROUNDS [hasty]. The
 * server has a completion that it has not polled, so that its DISCONNECTED waits. In its channel
 * the end of the old connection stands before the request for the new one all the same; a client
 * that is not hasty has heard DISCONNECTED before, and so has the server. An alarm ends a program
 * that hangs.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEADLINE_S 240

static struct rdma_event_channel *at_server, *at_client;
static struct rdma_cm_id *listener;
static struct sockaddr_in address;
static unsigned rounds;
static unsigned told; /* ends of which the server has been told */
static struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_order.c:%d: %s: %s\n", line, what, strerror(errno));
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
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};

	CHECK(rdma_create_qp(id, NULL, &attr) == 0);
}

static void serve_one(void)
{
	struct ibv_recv_wr *bad, wr = {.wr_id = 1};
	struct rdma_cm_id *id = expect(at_server, RDMA_CM_EVENT_CONNECT_REQUEST);

	make_qp(id);
	CHECK(ibv_post_recv(id->qp, &wr, &bad) == 0);
	CHECK(rdma_accept(id, &param) == 0);
	expect(at_server, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(expect(at_server, RDMA_CM_EVENT_DISCONNECTED) == id);
	__atomic_fetch_add(&told, 1, __ATOMIC_SEQ_CST);
	CHECK(rdma_disconnect(id) == 0);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

static void *serve(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < rounds; i++)
		serve_one();
	return NULL;
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
	address.sin_family = AF_INET;
	memcpy(&address.sin_addr, gid.raw + 12, sizeof(address.sin_addr));
	CHECK(rdma_create_id(at_server, &listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(listener, 4) == 0);
	address.sin_port = rdma_get_src_port(listener);
}

static struct rdma_cm_id *connect_there(void)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(at_client, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) == 0);
	expect(at_client, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(id, 2000) == 0);
	expect(at_client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	CHECK(rdma_connect(id, &param) == 0);
	expect(at_client, RDMA_CM_EVENT_ESTABLISHED);
	return id;
}

static void send_one(struct rdma_cm_id *id)
{
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .wr_id = 1};
	struct ibv_wc wc;

	CHECK(ibv_post_send(id->qp, &wr, &bad) == 0);
	while (ibv_poll_cq(id->send_cq, 1, &wc) == 0)
		;
	CHECK(wc.status == IBV_WC_SUCCESS);
}

int main(int argc, char **argv)
{
	bool hasty = argc > 2 && strcmp(argv[2], "hasty") == 0;
	pthread_t server;

	alarm(DEADLINE_S);
	rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	at_server = rdma_create_event_channel();
	at_client = rdma_create_event_channel();
	CHECK(at_server && at_client);
	listen_here();
	CHECK(pthread_create(&server, NULL, serve, NULL) == 0);
	for (unsigned i = 0; i < rounds; i++) {
		struct rdma_cm_id *id = connect_there();

		send_one(id);
		CHECK(rdma_disconnect(id) == 0);
		if (!hasty) {
			expect(at_client, RDMA_CM_EVENT_DISCONNECTED);
			CHECK(__atomic_load_n(&told, __ATOMIC_SEQ_CST) == i + 1);
		}
		rdma_destroy_qp(id);
		CHECK(rdma_destroy_id(id) == 0);
	}
	CHECK(pthread_join(server, NULL) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
	rdma_destroy_event_channel(at_server);
	rdma_destroy_event_channel(at_client);
	return 0;
}
