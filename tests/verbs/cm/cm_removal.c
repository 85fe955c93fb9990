/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon is killed under ids of librdmacm: each id that has a device hears that it was removed,
 * once, and a program can acknowledge, end its ids and its channels as ever. Ids without a device,
 * which listen at any address, hear nothing. "cm_removal peer": the killed daemon is another one,
 * of UHCA_PEER_DIR, with the server; the client's QP finds out. Run by cm_removal.sh. An alarm ends
 * a program that hangs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 240

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_removal.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

/* Takes the event that is expected next; returns its id. */
static struct rdma_cm_id *take_event(struct rdma_event_channel *channel,
				     enum rdma_cm_event_type type)
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
	CHECK(rdma_bind_addr(id, (struct sockaddr *)at) == 0);
	CHECK(rdma_listen(id, 4) == 0);
	at->sin_port = rdma_get_src_port(id);
	return id;
}

static struct rdma_cm_id *call(struct rdma_event_channel *channel, struct sockaddr_in *to)
{
	struct rdma_conn_param param = {.retry_count = 1, .rnr_retry_count = 7};
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 2000) == 0);
	CHECK(take_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
	CHECK(rdma_resolve_route(id, 2000) == 0);
	CHECK(take_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
	make_qp(id);
	CHECK(rdma_connect(id, &param) == 0);
	return id;
}

static void kill_daemon(const char *dir)
{
	char path[4096];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir);
	f = fopen(path, "r");
	CHECK(f && fscanf(f, "%d", &pid) == 1 && pid > 1);
	fclose(f);
	CHECK(kill(pid, SIGKILL) == 0);
}

static void on_tick(int number)
{
	(void)number;
}

/* Nothing is readable, and whoever waits waits until a signal comes: as with a kernel. */
static void expect_silence(struct rdma_event_channel *channel)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec ticks = {{0, 20000000}, {0, 20000000}}, none = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_tick};
	int flags = fcntl(channel->fd, F_GETFL);
	struct rdma_cm_event *e;
	timer_t timer;

	for (unsigned i = 0; i < 3; i++)
		CHECK(poll(&p, 1, 0) == 0);
	CHECK(fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) == 0);
	CHECK(rdma_get_cm_event(channel, &e) < 0 && errno == EAGAIN);
	CHECK(fcntl(channel->fd, F_SETFL, flags) == 0);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
	CHECK(timer_settime(timer, 0, &ticks, NULL) == 0);
	CHECK(rdma_get_cm_event(channel, &e) < 0 && errno == EINTR);
	CHECK(timer_settime(timer, 0, &none, NULL) == 0);
	CHECK(timer_delete(timer) == 0);
}

/* Each of the ids hears it once, in any order; then there is nothing more to hear. */
static void expect_removal(struct rdma_event_channel *channel, struct rdma_cm_id **id, unsigned n)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	unsigned seen = 0;

	for (unsigned i = 0; i < n; i++) {
		CHECK(poll(&p, 1, -1) == 1);
		struct rdma_cm_id *who = take_event(channel, RDMA_CM_EVENT_DEVICE_REMOVAL);

		for (unsigned k = 0; k < n; k++)
			if (id[k] == who)
				seen |= 1u << k;
	}
	CHECK(seen == (1u << n) - 1);
	expect_silence(channel);
}

/* A listener at any address: a poll may have seen that the daemon ended, but there is no event. */
static void expect_nothing(struct rdma_event_channel *channel)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *e;

	CHECK(poll(&p, 1, -1) == 1);
	CHECK(rdma_get_cm_event(channel, &e) < 0 && errno == EAGAIN);
	expect_silence(channel);
}

static void end(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

static void test_ids(void)
{
	struct rdma_event_channel *passive = rdma_create_event_channel();
	struct rdma_event_channel *active = rdma_create_event_channel();
	struct rdma_event_channel *idle = rdma_create_event_channel();
	struct rdma_conn_param param = {.rnr_retry_count = 7};
	struct rdma_cm_id *server[2], *client[1], *any, *alone, *none;
	struct sockaddr_in at = {0}, there, anywhere = {0};

	CHECK(passive && active && idle);
	alone = listen_on(idle, &anywhere);
	any = listen_on(passive, &at);
	CHECK(!any->verbs);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client[0] = call(active, &at);
	server[1] = take_event(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(server[1]);
	CHECK(rdma_accept(server[1], &param) == 0);
	CHECK(take_event(active, RDMA_CM_EVENT_ESTABLISHED) == client[0]);
	CHECK(take_event(passive, RDMA_CM_EVENT_ESTABLISHED) == server[1]);
	there = *(struct sockaddr_in *)rdma_get_local_addr(client[0]);
	there.sin_port = 0;
	server[0] = listen_on(passive, &there);
	CHECK(server[0]->verbs);
	kill_daemon(getenv("UHCA_DIR"));
	expect_removal(active, client, 1);
	expect_removal(passive, server, 2);
	expect_nothing(idle);
	CHECK(rdma_create_id(idle, &none, NULL, RDMA_PS_TCP) < 0 && errno == EIO);
	CHECK(rdma_disconnect(client[0]) < 0); /* an error, not a wait */
	end(client[0]);
	end(server[1]);
	end(server[0]);
	end(any);
	end(alone);
	rdma_destroy_event_channel(idle);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(passive);
	puts("each id with a device heard of the removal, and went");
}

/* ---- the peer's daemon ---- */

/* Its address and port go to "out"; then it hears of the removal. */
static void serve(int out)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param param = {.rnr_retry_count = 7};
	struct sockaddr_in at = {0};
	struct rdma_cm_id *id[2];

	CHECK(channel && inet_pton(AF_INET, getenv("UHCA_PEER_ADDRESS"), &at.sin_addr) == 1);
	id[0] = listen_on(channel, &at);
	CHECK(write(out, &at, sizeof(at)) == sizeof(at));
	id[1] = take_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(id[1]);
	CHECK(rdma_accept(id[1], &param) == 0);
	CHECK(take_event(channel, RDMA_CM_EVENT_ESTABLISHED) == id[1]);
	CHECK(write(out, &at, 1) == 1);
	expect_removal(channel, id, 2);
	end(id[1]);
	end(id[0]);
	rdma_destroy_event_channel(channel);
}

/* This program once more, below the other daemon. */
static pid_t start_server(int out)
{
	char fd[16];
	pid_t child = fork();

	CHECK(child >= 0);
	if (child > 0)
		return child;
	snprintf(fd, sizeof(fd), "%d", out);
	CHECK(setenv("UHCA_DIR", getenv("UHCA_PEER_DIR"), 1) == 0);
	execl("/proc/self/exe", "cm_removal", "serve", fd, (char *)NULL);
	_exit(1);
}

static void send_in_vain(struct rdma_cm_id *id)
{
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc = {0};
	int n = 0;

	CHECK(ibv_post_send(id->qp, &wr, &bad) == 0);
	while (n == 0)
		n = ibv_poll_cq(id->send_cq, 1, &wc);
	CHECK(n == 1 && wc.status == IBV_WC_RETRY_EXC_ERR);
}

static void test_peer(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in at;
	struct rdma_cm_id *id;
	int pair[2], status;
	pid_t server;
	char ready;

	CHECK(channel && pipe(pair) == 0);
	server = start_server(pair[1]);
	CHECK(read(pair[0], &at, sizeof(at)) == sizeof(at));
	id = call(channel, &at);
	CHECK(take_event(channel, RDMA_CM_EVENT_ESTABLISHED) == id);
	CHECK(read(pair[0], &ready, 1) == 1);
	kill_daemon(getenv("UHCA_PEER_DIR"));
	send_in_vain(id);
	CHECK(rdma_disconnect(id) == 0); /* that nobody answers: tests/sim/messages/test_cm.c */
	end(id);
	rdma_destroy_event_channel(channel);
	CHECK(waitpid(server, &status, 0) == server && status == 0);
	puts("the peer found that the other daemon is gone");
}

int main(int argc, char **argv)
{
	alarm(DEADLINE_S);
	if (argc > 2 && strcmp(argv[1], "serve") == 0)
		serve(atoi(argv[2]));
	else if (argc > 1 && strcmp(argv[1], "peer") == 0)
		test_peer();
	else
		test_ids();
	return 0;
}
