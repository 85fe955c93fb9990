/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that do nothing for a while and do not hang: what they wait for may come. Each stays so
 * for a second, or for as many as the second argument says; the first says which one.
 */
#include "tests/verbs/sanitize/pair.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long idle_s = 1;
static struct pair p;

static void idle(void)
{
	struct timespec t = {idle_s, 0};

	while (nanosleep(&t, &t))
		;
}

static bool is_over(void)
{
	static struct timespec begin;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!begin.tv_sec)
		begin = now;
	return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 >=
	       1000 * idle_s;
}

/* A descriptor that can be read when the time is over: another process writes. */
static int later(void)
{
	int fd[2];

	pair_must(!pipe(fd), "a pipe");
	if (!fork()) {
		idle();
		_exit(write(fd[1], "", 1) != 1);
	}
	close(fd[1]);
	return fd[0];
}

/* ---- who waits ---- */

/* Armed, with a receive posted: a message may come. */
static void *wait_for_message(void *arg)
{
	struct ibv_cq *cq;
	void *context;

	ibv_get_cq_event(p.channel, &cq, &context);
	ibv_ack_cq_events(cq, 1);
	pair_wait(&p.b);
	return arg;
}

static pthread_t start_server(void)
{
	pthread_t thread;

	pair_recv(&p.b, 1, 0, 64);
	ibv_req_notify_cq(p.b.cq, 0);
	pair_must(!pthread_create(&thread, NULL, wait_for_message, NULL), "a thread");
	return thread;
}

static void end_server(pthread_t thread)
{
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pthread_join(thread, NULL);
}

/* ---- what the other thread does meanwhile ---- */

static void sleeps(void)
{
	pthread_t server = start_server();

	idle();
	end_server(server);
}

static void naps(void)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	pthread_t server = start_server();

	while (!is_over())
		nanosleep(&moment, NULL);
	end_server(server);
}

static void reads(void)
{
	pthread_t server = start_server();
	int fd = later();
	char c;

	pair_must(read(fd, &c, 1) == 1, "a byte");
	close(fd);
	wait(NULL);
	end_server(server);
}

static void computes(void)
{
	pthread_t server = start_server();

	while (!is_over())
		;
	end_server(server);
}

/* Looks for completions and for a descriptor by turns. */
static void asks(void)
{
	pthread_t server = start_server();
	struct pollfd fd = {.fd = later(), .events = POLLIN};
	struct ibv_wc wc;

	while (poll(&fd, 1, 0) != 1)
		pair_must(!ibv_poll_cq(p.a.cq, 1, &wc), "nothing");
	close(fd.fd);
	wait(NULL);
	end_server(server);
}

/* Naps between two looks, and reads a pipe without waiting. */
static void looks(void)
{
	pthread_t server = start_server();
	const struct timespec nap = {0, 100000};
	int fd = later();
	struct ibv_wc wc;
	char c;

	pair_must(!fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	while (read(fd, &c, 1) != 1) {
		pair_must(!ibv_poll_cq(p.a.cq, 1, &wc), "nothing");
		nanosleep(&nap, NULL);
	}
	close(fd);
	wait(NULL);
	end_server(server);
}

/* ---- who waits for strangers ---- */

static void on_alarm(int number)
{
	(void)number;
	_exit(0);
}

static void end_by_alarm(void)
{
	signal(SIGALRM, on_alarm);
	alarm((unsigned)idle_s);
}

/* One thread waits for new connections. */
static void listens(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct sockaddr_in any = {.sin_family = AF_INET};

	pair_must(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) &&
			  !rdma_bind_addr(id, (struct sockaddr *)&any) && !rdma_listen(id, 1),
		  "a listener");
	start_server();
	end_by_alarm();
	rdma_get_cm_event(channel, &event);
}

/* Looks for new connections and for completions by turns. */
static void takes(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_wc wc;

	pair_must(channel && !fcntl(channel->fd, F_SETFL, O_NONBLOCK) &&
			  !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) &&
			  !rdma_bind_addr(id, (struct sockaddr *)&any) && !rdma_listen(id, 1),
		  "a listener");
	pair_recv(&p.b, 1, 0, 64);
	end_by_alarm();
	while (rdma_get_cm_event(channel, &event))
		pair_must(!ibv_poll_cq(p.b.cq, 1, &wc), "nothing");
}

/* Anybody may send a datagram. */
static void hears(void)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD,
					.send_cq = p.b.cq,
					.recv_cq = p.b.cq,
					.cap = {4, 4, 1, 1, 0}};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp *qp = ibv_create_qp(p.pd, &attr);
	struct ibv_sge sge = {(uintptr_t)p.b.memory, 128, p.b.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(qp &&
			  !ibv_modify_qp(qp, &init,
					 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						 IBV_QP_QKEY) &&
			  !ibv_modify_qp(qp, &rtr, IBV_QP_STATE) && !ibv_post_recv(qp, &wr, &bad),
		  "a UD queue pair");
	ibv_req_notify_cq(p.b.cq, 0);
	end_by_alarm();
	wait_for_message(NULL);
}

/* A work queue completes there, whose senders are not known. */
static void spreads(void)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = p.pd, .cq = p.b.cq};

	pair_must(ibv_create_wq(p.context, &attr) != NULL, "a work queue");
	ibv_req_notify_cq(p.b.cq, 0);
	end_by_alarm();
	wait_for_message(NULL);
}

/* Waits for its peer, which is another process that sleeps. */
static void visits(void)
{
	char c = 0;
	int fd[2];
	pid_t child;

	pair_must(!pipe(fd), "a pipe");
	child = fork();
	if (child) {
		pair_open(&p);
		pair_must(write(fd[1], &c, 1) == 1, "telling");
		start_server();
		end_by_alarm();
		waitpid(child, NULL, 0);
		return;
	}
	pair_must(read(fd[0], &c, 1) == 1, "hearing");
	idle();
	_exit(0);
}

static const struct {
	const char *name;
	void (*does)(void);
} modes[] = {{"sleeps", sleeps}, {"naps", naps},       {"reads", reads},  {"computes", computes},
	     {"asks", asks},     {"looks", looks},     {"takes", takes},  {"listens", listens},
	     {"hears", hears},   {"spreads", spreads}, {"visits", visits}};

int main(int argc, char **argv)
{
	pair_must(!ibv_fork_init(), "ibv_fork_init");
	if (argc > 2)
		idle_s = atol(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[1]))
			continue;
		if (modes[i].does != visits)
			pair_open(&p);
		modes[i].does();
		pair_close(&p);
		return 0;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		puts(modes[i].name);
	return 0;
}
