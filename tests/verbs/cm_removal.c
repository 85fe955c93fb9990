/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon is killed under ids of librdmacm: each id hears that its device was removed, once,
 * and a program can acknowledge, end its ids and its channels as ever. Run by cm_removal.sh. An
 * alarm ends a program that hangs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEADLINE_S 60

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_removal.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

/* Takes the event that is expected next; returns its id. */
static struct rdma_cm_id *take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;

	CHECK(rdma_get_cm_event(channel, &e) == 0);
	if (e->event != type)
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(e->event),
			rdma_event_str(type));
	CHECK(e->event == type);
	id = e->id;
	CHECK(rdma_ack_cm_event(e) == 0);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	CHECK(rdma_create_qp(id, NULL, &attr) == 0);
}

static struct rdma_cm_id *listen_on(struct rdma_event_channel *channel, struct sockaddr_in *at)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	at->sin_family = AF_INET;
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* whatever address the device has */
	CHECK(rdma_bind_addr(id, (struct sockaddr *)at) == 0);
	CHECK(rdma_listen(id, 4) == 0);
	at->sin_port = rdma_get_src_port(id);
	return id;
}

static struct rdma_cm_id *call(struct rdma_event_channel *channel, struct sockaddr_in *to)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 2000) == 0);
	CHECK(take(channel, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
	CHECK(rdma_resolve_route(id, 2000) == 0);
	CHECK(take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
	make_qp(id);
	CHECK(rdma_connect(id, &param) == 0);
	return id;
}

static void kill_daemon(void)
{
	char path[4096];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", getenv("UHCA_DIR"));
	f = fopen(path, "r");
	CHECK(f && fscanf(f, "%d", &pid) == 1 && pid > 1);
	fclose(f);
	CHECK(kill(pid, SIGKILL) == 0);
}

/* Each of the ids hears it once, in any order; then there is nothing more to hear. */
static void expect_removal(struct rdma_event_channel *channel, struct rdma_cm_id **id, unsigned n)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *e;
	unsigned seen = 0;

	for (unsigned i = 0; i < n; i++) {
		CHECK(poll(&p, 1, -1) == 1);
		struct rdma_cm_id *who = take(channel, RDMA_CM_EVENT_DEVICE_REMOVAL);

		for (unsigned k = 0; k < n; k++)
			if (id[k] == who)
				seen |= 1u << k;
	}
	CHECK(seen == (1u << n) - 1);
	CHECK(rdma_get_cm_event(channel, &e) < 0 && errno == EIO);
}

int main(void)
{
	struct rdma_event_channel *passive = rdma_create_event_channel();
	struct rdma_event_channel *active = rdma_create_event_channel();
	struct rdma_conn_param param = {.rnr_retry_count = 7};
	struct rdma_cm_id *server[2], *client[1];
	struct sockaddr_in at = {0};

	alarm(DEADLINE_S);
	CHECK(passive && active);
	server[0] = listen_on(passive, &at);
	client[0] = call(active, &at);
	server[1] = take(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(server[1]);
	CHECK(rdma_accept(server[1], &param) == 0);
	CHECK(take(active, RDMA_CM_EVENT_ESTABLISHED) == client[0]);
	CHECK(take(passive, RDMA_CM_EVENT_ESTABLISHED) == server[1]);
	kill_daemon();
	expect_removal(active, client, 1);
	expect_removal(passive, server, 2);
	CHECK(rdma_disconnect(client[0]) < 0); /* an error, not a wait */
	rdma_destroy_qp(client[0]);
	rdma_destroy_qp(server[1]);
	CHECK(rdma_destroy_id(client[0]) == 0);
	CHECK(rdma_destroy_id(server[1]) == 0);
	CHECK(rdma_destroy_id(server[0]) == 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(passive);
	puts("each id heard of the removal, and went");
	return 0;
}
