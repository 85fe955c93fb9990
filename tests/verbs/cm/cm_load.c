/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections by the thousand: cm_load TOTAL AT_ONCE. Each is made through librdmacm, carries eight
 * bytes that are checked, and is ended; AT_ONCE of them are there at the same time before the first
 * of them is ended. Both ends are in this process, events in one channel. Says how long one took.
 * An alarm ends a program that hangs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 300

struct connection {
	struct rdma_cm_id *end[2]; /* active, passive */
	uint64_t sent, received;
	unsigned up, down;
	bool arrived;
};

static struct load {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct sockaddr_in at;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct connection *c;
	unsigned batch, arrived, ended;
} l;

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_load.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

/* The first one: 127.0.0.1 may be that of another daemon of this machine. */
static struct in_addr device_address(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *device;
	struct in_addr address;
	union ibv_gid gid;

	CHECK(list && list[0]);
	device = ibv_open_device(list[0]);
	CHECK(device && ibv_query_gid(device, 1, 0, &gid) == 0);
	memcpy(&address, gid.raw + 12, sizeof(address));
	CHECK(ibv_close_device(device) == 0);
	ibv_free_device_list(list);
	return address;
}

static void listen_here(void)
{
	l.channel = rdma_create_event_channel();
	CHECK(l.channel);
	CHECK(rdma_create_id(l.channel, &l.listener, NULL, RDMA_PS_TCP) == 0);
	l.at.sin_family = AF_INET;
	l.at.sin_addr = device_address();
	CHECK(rdma_bind_addr(l.listener, (struct sockaddr *)&l.at) == 0);
	CHECK(rdma_listen(l.listener, 1024) == 0);
	l.at.sin_port = rdma_get_src_port(l.listener);
}

static void make_memory(unsigned at_once)
{
	l.c = calloc(at_once, sizeof(*l.c));
	l.pd = ibv_alloc_pd(l.listener->verbs);
	l.cq = ibv_create_cq(l.listener->verbs, (int)(4 * at_once), NULL, NULL, 0);
	CHECK(l.c && l.pd && l.cq);
	l.mr = ibv_reg_mr(l.pd, l.c, at_once * sizeof(*l.c), IBV_ACCESS_LOCAL_WRITE);
	CHECK(l.mr);
}

static void make_qp(struct rdma_cm_id *id, struct connection *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = l.cq,
		.recv_cq = l.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	id->context = c;
	CHECK(rdma_create_qp(id, l.pd, &attr) == 0);
}

/* The number of the connection goes along as private data. */
static void on_request(struct rdma_cm_event *e)
{
	struct rdma_conn_param param = {.rnr_retry_count = 7};
	struct connection *c;
	uint32_t number;

	CHECK(e->param.conn.private_data_len >= sizeof(number));
	memcpy(&number, e->param.conn.private_data, sizeof(number));
	CHECK(number < l.batch);
	c = &l.c[number];
	c->end[1] = e->id;
	make_qp(e->id, c);
	CHECK(rdma_post_recv(e->id, c, &c->received, sizeof(c->received), l.mr) == 0);
	CHECK(rdma_accept(e->id, &param) == 0);
}

static void connect_it(struct connection *c)
{
	uint32_t number = (uint32_t)(c - l.c);
	struct rdma_conn_param param = {.retry_count = 7,
					.rnr_retry_count = 7,
					.private_data = &number,
					.private_data_len = sizeof(number)};

	make_qp(c->end[0], c);
	CHECK(rdma_connect(c->end[0], &param) == 0);
}

static void on_established(struct connection *c)
{
	if (++c->up < 2)
		return;
	c->sent = (uint64_t)rand() << 16 | 1;
	CHECK(rdma_post_send(c->end[0], c, &c->sent, sizeof(c->sent), l.mr, 0) == 0);
}

static void on_event(struct rdma_cm_event *e)
{
	struct connection *c = e->id->context;

	if (e->event == RDMA_CM_EVENT_ADDR_RESOLVED) {
		CHECK(rdma_resolve_route(e->id, 2000) == 0);
	} else if (e->event == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		connect_it(c);
	} else if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		on_request(e);
	} else if (e->event == RDMA_CM_EVENT_ESTABLISHED) {
		on_established(c);
	} else if (e->event == RDMA_CM_EVENT_DISCONNECTED) {
		CHECK(rdma_disconnect(e->id) == 0); /* the answer, of who did not ask for it */
		l.ended += ++c->down == 2;
	} else if (e->event != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		fprintf(stderr, "%s, status %d\n", rdma_event_str(e->event), e->status);
		exit(1);
	}
}

static void look(void)
{
	struct rdma_cm_event *e;
	struct ibv_wc wc;

	while (ibv_poll_cq(l.cq, 1, &wc) > 0) {
		struct connection *c = (struct connection *)(uintptr_t)wc.wr_id;

		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode != IBV_WC_RECV)
			continue;
		CHECK(c->received == c->sent);
		l.arrived++;
	}
	while (rdma_get_cm_event(l.channel, &e) == 0) {
		struct rdma_cm_event copy = *e;
		uint8_t data[256] = {0};

		if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			memcpy(data, e->param.conn.private_data, e->param.conn.private_data_len);
			copy.param.conn.private_data = data;
		}
		CHECK(rdma_ack_cm_event(e) == 0);
		on_event(&copy);
	}
	CHECK(errno == EAGAIN);
}

static void wait_until(const unsigned *count, unsigned n)
{
	struct pollfd p = {.fd = l.channel->fd, .events = POLLIN};

	while (*count < n) {
		look();
		poll(&p, 1, 0);
	}
}

static void run_batch(unsigned n)
{
	l.batch = n;
	l.arrived = l.ended = 0;
	memset(l.c, 0, n * sizeof(*l.c));
	for (unsigned i = 0; i < n; i++) {
		CHECK(rdma_create_id(l.channel, &l.c[i].end[0], &l.c[i], RDMA_PS_TCP) == 0);
		CHECK(rdma_resolve_addr(l.c[i].end[0], NULL, (struct sockaddr *)&l.at, 2000) == 0);
		look();
	}
	wait_until(&l.arrived, n);
	for (unsigned i = 0; i < n; i++)
		CHECK(rdma_disconnect(l.c[i].end[i & 1]) == 0);
	wait_until(&l.ended, n);
	for (unsigned i = 0; i < 2 * n; i++) {
		struct rdma_cm_id *id = l.c[i / 2].end[i & 1];

		rdma_destroy_qp(id);
		CHECK(rdma_destroy_id(id) == 0);
	}
}

int main(int argc, char **argv)
{
	unsigned total = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	unsigned at_once = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	struct timespec begin, end;
	double us;

	if (total == 0 || at_once == 0) {
		fprintf(stderr, "usage: cm_load TOTAL AT_ONCE\n");
		return 2;
	}
	alarm(DEADLINE_S);
	listen_here();
	make_memory(at_once);
	fcntl(l.channel->fd, F_SETFL, O_NONBLOCK);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned done = 0; done < total; done += l.batch)
		run_batch(total - done < at_once ? total - done : at_once);
	clock_gettime(CLOCK_MONOTONIC, &end);
	us = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
	     (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
	CHECK(rdma_destroy_id(l.listener) == 0);
	rdma_destroy_event_channel(l.channel);
	printf("%u connections, %u at once: %.0f us for each\n", total, at_once, us / total);
	return 0;
}
