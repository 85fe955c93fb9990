/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon as a process of its own (the uhcad of the build): it says when it is ready, sleeps
 * without using the processor, misses no doorbell however it falls between the last look and the
 * sleep, ends when it is told to or when nobody is left, cleans up, and says why it cannot start.
 */
#include "emu/abi/ctl.h"
#include "emu/io/base/clock.h"
#include "emu/io/local/message.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/uhcad_process.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct prng rng;

static char *none[] = {NULL};

/* ---- a client, without the daemon in this process ---- */

#define PEERS 24u

struct peer {
	int sock;
	struct uhca_abi_status *status;
	struct uhca_abi_doorbell *bell;
	struct uhca_abi_active_doorbells *active_doorbells;
	int event;
	uint32_t doorbell;
};

static void call(struct peer *p, uint32_t cmd, void *msg, size_t len, void *reply, size_t cap)
{
	struct uhca_cmd_request h = {cmd, (uint32_t)len, 1, 0};
	struct uhca_cmd_reply r;

	memcpy(msg, &h, sizeof(h));
	assert_int_equal(send(p->sock, msg, len, 0), len);
	assert_int_equal(recv(p->sock, reply, cap, 0), cap);
	memcpy(&r, reply, sizeof(r));
	assert_int_equal(r.status, 0);
}

static void say_hello(struct peer *p)
{
	struct uhca_cmd_hello in = io_test_hello_request("uhca0");
	struct uhca_cmd_hello_reply reply;
	struct io_fds fds;
	int pair[2];
	int fd[2] = {open("/proc/self/mem", O_RDWR), -1};
	struct pollfd q = {.fd = p->sock, .events = POLLIN};
	bool whole;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fd[1] = pair[1];
	in.h = (struct uhca_cmd_request){UHCA_CMD_HELLO, sizeof(in), 1, 0};
	assert_int_equal(io_message_send(p->sock, &in, sizeof(in), fd, 2), 0);
	assert_int_equal(poll(&q, 1, 1000 * IO_TEST_SECONDS), 1);
	assert_int_equal(io_message_receive(p->sock, &reply, sizeof(reply), &fds, &whole),
			 sizeof(reply));
	assert_int_equal(reply.h.status, 0);
	close(fd[0]);
	close(pair[0]);
	close(pair[1]);
	p->status = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds.fd[0], 0);
	p->bell = mmap(NULL, sizeof(*p->bell), PROT_READ | PROT_WRITE, MAP_SHARED, fds.fd[1], 0);
	p->active_doorbells = mmap(NULL, sizeof(*p->active_doorbells), PROT_READ | PROT_WRITE,
				   MAP_SHARED, fds.fd[3], 0);
	assert_true((void *)p->status != MAP_FAILED && (void *)p->bell != MAP_FAILED);
	assert_true((void *)p->active_doorbells != MAP_FAILED);
	p->event = fds.fd[2];
	/* Not io_fds_close: a child has no reaper's threads, and a lock of theirs as it was. */
	for (unsigned i = 0; i < fds.n; i++)
		if (i != 2)
			close(fds.fd[i]);
}

/* A QP, so that there is a doorbell. */
static void make_qp(struct peer *p)
{
	struct uhca_cmd_handle pd = {.handle = 0};
	struct uhca_cmd_create_cq cq = {.cqe = 4};
	struct uhca_cmd_create_qp qp = {.qp_type = IBV_QPT_UD, .max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_handle_reply pd_reply;
	struct uhca_cmd_create_cq_reply cq_reply;
	struct uhca_cmd_create_qp_reply qp_reply;

	call(p, UHCA_CMD_ALLOC_PD, &pd, sizeof(pd), &pd_reply, sizeof(pd_reply));
	call(p, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq), &cq_reply, sizeof(cq_reply));
	qp.pd = pd_reply.handle;
	qp.send_cq = qp.recv_cq = cq_reply.handle;
	call(p, UHCA_CMD_CREATE_QP, &qp, sizeof(qp), &qp_reply, sizeof(qp_reply));
	p->doorbell = qp_reply.doorbell;
}

static void join(struct peer *p, const struct uhcad_process *d)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/sock", d->dir);
	p->sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(p->sock, (struct sockaddr *)&un, sizeof(un)), 0);
	say_hello(p);
	make_qp(p);
}

static void leave(struct peer *p)
{
	munmap(p->status, 4096);
	munmap(p->bell, sizeof(*p->bell));
	munmap(p->active_doorbells, sizeof(*p->active_doorbells));
	close(p->event);
	close(p->sock);
}

/* Polls a 4- or 8-byte place in shared memory, giving the processor away. */
static bool becomes32(const uint32_t *p, uint32_t value)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != value)
		if (io_clock_now() > end || sched_yield() < 0)
			return false;
	return true;
}

static bool becomes_zero(const uint64_t *p)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != 0)
		if (io_clock_now() > end || sched_yield() < 0)
			return false;
	return true;
}

/* As a provider does it. */
static void ring(struct peer *p)
{
	static const uint64_t one = 1;

	uhca_doorbell_set(p->bell, p->doorbell);
	uhca_doorbell_set_active(p->bell, p->active_doorbells);
	if (__atomic_load_n(&p->status->need_wakeup, __ATOMIC_RELAXED))
		assert_int_equal(write(p->event, &one, sizeof(one)), sizeof(one));
}

/* ---- tests ---- */

static void test_signals(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct uhcad_process d;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		uhcad_start(&d, none);
		assert_true(uhcad_has(&d, "sock") && uhcad_has(&d, "ctl") && uhcad_has(&d, "pid"));
		assert_true(uhcad_has(&d, "sys/class/infiniband/uhca0/node_guid"));
		kill(d.pid, signals[i]);
		assert_int_equal(uhcad_wait_end(&d, NULL), 0);
		assert_false(uhcad_has(&d, "sock") || uhcad_has(&d, "ctl") || uhcad_has(&d, "pid"));
		assert_false(uhcad_has(&d, "sys") || uhcad_has(&d, "dev"));
		assert_true(uhcad_has(&d, "log"));
		assert_string_equal(uhcad_said(&d), "");
		uhcad_clean(&d);
	}
}

static void test_stops_with_clients(void **state)
{
	struct uhcad_process d;
	struct peer p;
	char byte;

	(void)state;
	uhcad_start(&d, none);
	join(&p, &d);
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	assert_int_equal(recv(p.sock, &byte, 1, 0), 0);
	leave(&p);
	uhcad_clean(&d);
}

/* Nobody is there, then somebody is, then nobody again. Meanwhile it sleeps. */
static void test_idle_timeout(void **state)
{
	static char *extra[] = {(char *)(uintptr_t) "--idle-timeout", (char *)(uintptr_t) "1",
				NULL};
	struct pollfd gone = {.events = POLLIN};
	struct rusage used;
	struct uhcad_process d;
	struct peer p;

	(void)state;
	uhcad_start(&d, extra);
	join(&p, &d);
	gone.fd = p.sock;
	assert_true(becomes32(&p.status->need_wakeup, 1));
	assert_int_equal(poll(&gone, 1, 1500), 0); /* longer than its idle timeout */
	leave(&p);
	assert_int_equal(uhcad_wait_end(&d, &used), 0);
	/* of 2.5 seconds and more, start and end included; sanitizers are slow to start */
	assert_int_equal(used.ru_utime.tv_sec + used.ru_stime.tv_sec, 0);
	assert_in_range(used.ru_utime.tv_usec + used.ru_stime.tv_usec, 0, 500000);
	uhcad_clean(&d);
}

static void test_wakeup(void **state)
{
	struct uhcad_process d;
	struct peer p;

	(void)state;
	uhcad_start(&d, none);
	join(&p, &d);
	for (unsigned i = 0; i < 20; i++) {
		assert_true(becomes32(&p.status->need_wakeup, 1));
		ring(&p);
		assert_true(becomes_zero(&p.bell->summary[0]));
	}
	leave(&p);
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	uhcad_clean(&d);
}

/* Rings of peers taken at random, each served before the next. */
static void ring_at_random(struct peer *peers, unsigned n, unsigned rounds, unsigned pause)
{
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t until = io_clock_now() + prng_below(&rng, pause);
		struct peer *p = &peers[prng_below(&rng, n)];

		while (io_clock_now() < until)
			sched_yield();
		ring(p);
		if (i % 2 && n > 1) /* one of them is hostile to the others */
			memset(p->active_doorbells, 0, sizeof(*p->active_doorbells));
		assert_true(becomes_zero(&p->bell->summary[0]));
	}
}

static void miss_no_bell(unsigned peers, unsigned rounds, unsigned pause)
{
	struct peer p[PEERS];
	struct uhcad_process d;

	uhcad_start(&d, none);
	for (unsigned i = 0; i < peers; i++)
		join(&p[i], &d);
	ring_at_random(p, peers, rounds, pause);
	for (unsigned i = 0; i < peers; i++)
		leave(&p[i]);
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	uhcad_clean(&d);
}

/* At all moments around the fall asleep, 50 us and 50 looks after the last work. */
static void test_no_bell_is_missed(void **state)
{
	(void)state;
	miss_no_bell(1, 3000, 150000);
}

/* Of many, most are not looked at. */
static void test_no_bell_of_many_is_missed(void **state)
{
	(void)state;
	miss_no_bell(PEERS, 3000, 200000);
}

/* The loop goes on when a client is killed. */
static void test_client_is_killed(void **state)
{
	struct uhcad_process d;
	struct peer p;
	pid_t victim;
	int status;

	(void)state;
	uhcad_start(&d, none);
	victim = fork();
	if (victim == 0) {
		join(&p, &d);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(victim, &status, 0), victim);
	assert_true(WIFSIGNALED(status));
	join(&p, &d);
	ring(&p);
	assert_true(becomes_zero(&p.bell->summary[0]));
	leave(&p);
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	uhcad_clean(&d);
}

static void cannot_start(char *const *extra, const char *dir, const char *why, int expected)
{
	struct uhcad_process d;

	snprintf(d.dir, sizeof(d.dir), "%s", dir);
	uhcad_spawn(&d, extra);
	assert_string_equal(uhcad_wait_ready(&d), "");
	assert_int_equal(uhcad_wait_end(&d, NULL), expected);
	assert_non_null(strstr(uhcad_said(&d), why));
	close(d.said);
}

static void test_cannot_start(void **state)
{
	static char *bad[] = {(char *)(uintptr_t) "--devices", (char *)(uintptr_t) "0", NULL};
	static char *elsewhere[] = {(char *)(uintptr_t) "--addr",
				    (char *)(uintptr_t) "203.0.113.254", NULL};
	static char *netdev[] = {(char *)(uintptr_t) "--netdev", (char *)(uintptr_t) "nosuchif",
				 (char *)(uintptr_t) "--devices", (char *)(uintptr_t) "2", NULL};
	static char *log[] = {(char *)(uintptr_t) "--log-file",
			      (char *)(uintptr_t) "/nonexistent/log", NULL};
	struct uhcad_process first;
	char dir[64];

	(void)state;
	uhcad_start(&first, none);
	cannot_start(none, first.dir, "another daemon", 1);
	io_test_dir(dir);
	cannot_start(none, dir, "UDP port 4791 of 127.", UHCA_EXIT_ADDRESS_TAKEN);
	kill(first.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&first, NULL), 0);
	uhcad_clean(&first);
	cannot_start(bad, dir, "--devices: '0' is not a number", 2);
	cannot_start(elsewhere, dir, "no address 203.0.113.254", 1);
	cannot_start(netdev, dir, "--netdev gives addresses to the first device only", 1);
	cannot_start(log, dir, "cannot write the log /nonexistent/log", 1);
	io_test_remove_dir(dir);
}

static void test_help(void **state)
{
	static char *help[] = {(char *)(uintptr_t) "--help", NULL};
	struct uhcad_process d = {.dir = "/tmp"};

	(void)state;
	uhcad_spawn(&d, help);
	uhcad_wait_ready(&d);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	assert_non_null(strstr(uhcad_said(&d), "--ready-fd"));
	close(d.said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_stops_with_clients),
		cmocka_unit_test(test_idle_timeout),
		cmocka_unit_test(test_wakeup),
		cmocka_unit_test(test_no_bell_is_missed),
		cmocka_unit_test(test_no_bell_of_many_is_missed),
		cmocka_unit_test(test_client_is_killed),
		cmocka_unit_test(test_cannot_start),
		cmocka_unit_test(test_help),
	};

	rng = prng_start("test_loop");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
