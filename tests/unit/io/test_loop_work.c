/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loop does for its clients, run in a thread of this process: it serves every one, sends
 * for every device, receives from the wire, keeps the deadlines of devices and of rules while there
 * is nothing else to do, and ends when it is told to.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/local/privilege.h"
#include "emu/io/loop.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 3
#define USERS   4

struct world {
	struct io_test_daemon t;
	struct io_user u[USERS]; /* of device n % DEVICES */
	pthread_t thread;
};

static struct world w;

static void start(enum io_wire_mode wire)
{
	struct io_settings s;

	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, DEVICES);
	s.wire = wire;
	io_test_daemon_start(&w.t, &s);
	for (unsigned i = 0; i < USERS; i++)
		io_user_open(&w.u[i], &w.t.d, w.t.d.ports[i % DEVICES].dev.id.name);
}

static int setup(void **state)
{
	(void)state;
	start(IO_WIRE_AUTO);
	return 0;
}

static int setup_wire(void **state)
{
	(void)state;
	start(IO_WIRE_ALWAYS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < USERS; i++)
		io_user_close(&w.u[i]);
	io_test_daemon_stop(&w.t);
	io_log_close();
	return 0;
}

static void *run(void *error)
{
	*(int *)error = io_loop_run(&w.t.d);
	return NULL;
}

static int loop_error;

/* From here on the daemon is the thread's: tests touch shared memory only. */
static void run_loop(void)
{
	loop_error = 1;
	assert_int_equal(pthread_create(&w.thread, NULL, run, &loop_error), 0);
}

static void end_loop(void)
{
	kill(getpid(), SIGTERM);
	assert_int_equal(pthread_join(w.thread, NULL), 0);
	assert_int_equal(loop_error, 0);
	assert_int_equal(w.u[0].status->need_wakeup, 0); /* who rings need not wake anybody */
	w.t.d.stop = false;
}

/* Until the daemon says that it sleeps. */
static void await_sleep(void)
{
	const uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	while (!__atomic_load_n(&w.u[0].status->need_wakeup, __ATOMIC_RELAXED))
		if (io_clock_now() > end || sched_yield() < 0)
			fail_msg("the daemon does not sleep");
}

static const struct uhca_abi_send_wqe message = {.opcode = UHCA_ABI_WR_SEND};

/* RC QPs of users a and b, connected, with receives at b's. */
static void connect_pair(struct io_user *a, struct io_user *b, struct io_user_qp *from,
			 struct io_user_qp *to)
{
	io_user_qp_create(from, a, IBV_QPT_RC);
	io_user_qp_create(to, b, IBV_QPT_RC);
	io_user_qp_connect(from, b->dev, to->qpn);
	io_user_qp_connect(to, a->dev, from->qpn);
	for (unsigned i = 0; i < IO_USER_WR; i++)
		io_user_recv(to, i, 8192, 4096);
}

static void check_pair(struct io_user_qp *from, struct io_user_qp *to, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(io_user_await(to).status, UHCA_ABI_WC_SUCCESS);
		assert_int_equal(io_user_await(from).status, UHCA_ABI_WC_SUCCESS);
	}
}

/* Each sends to the next one while the others ring, too, and again when the daemon has slept. */
static void test_everybody_is_served(void **state)
{
	struct io_user_qp from[USERS], to[USERS];

	(void)state;
	for (unsigned i = 0; i < USERS; i++)
		connect_pair(&w.u[i], &w.u[(i + 1) % USERS], &from[i], &to[i]);
	run_loop();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < USERS; i++) {
			for (unsigned k = 0; k < 10; k++)
				io_user_send(&from[i], message, 3000);
			io_user_ring(&from[i]);
		}
		for (unsigned i = 0; i < USERS; i++)
			check_pair(&from[i], &to[i], 10);
		await_sleep();
	}
	end_loop();
}

/* A READ of each user by itself: no other look brings the loop to its device. */
static void test_each_alone(void **state)
{
	struct io_user_qp from[USERS], to[USERS];

	(void)state;
	for (unsigned i = 0; i < USERS; i++)
		connect_pair(&w.u[i], &w.u[(i + 1) % USERS], &from[i], &to[i]);
	run_loop();
	for (unsigned i = 0; i < USERS; i++) {
		struct io_user *peer = &w.u[(i + 1) % USERS];
		struct uhca_abi_send_wqe e = {
			.opcode = UHCA_ABI_WR_RDMA_READ,
			.rdma = {.remote_addr = (uintptr_t)peer->memory + 12000,
				 .rkey = peer->rkey}};

		await_sleep();
		peer->memory[12000] = (uint8_t)(10 + i);
		io_user_send(&from[i], e, 100);
		io_user_ring(&from[i]);
		assert_int_equal(io_user_await(&from[i]).status, UHCA_ABI_WC_SUCCESS);
		assert_int_equal(w.u[i].memory[0], 10 + i);
	}
	end_loop();
}

/* More frames than a device sends in one turn. */
static void test_many_frames(void **state)
{
	struct io_user_qp from, to;

	(void)state;
	if (!io_user_may_raw()) {
		puts("raw packet queue pairs need CAP_NET_RAW");
		skip();
	}
	io_user_qp_create(&from, &w.u[0], IBV_QPT_RAW_PACKET);
	io_user_qp_connect(&from, NULL, 0);
	io_user_qp_create(&to, &w.u[1], IBV_QPT_RAW_PACKET);
	io_user_take_frames(&to);
	for (unsigned i = 0; i < IO_USER_WR; i++) {
		io_user_recv(&to, i, 8192, 4096);
		io_user_send(&from, message, 100);
	}
	run_loop();
	io_user_ring(&from);
	check_pair(&from, &to, IO_USER_WR);
	end_loop();
}

/*
 * Nobody answers; that is found, repetition by repetition, while everybody sleeps, and not when
 * something else wakes the loop: the last of so many is late otherwise.
 */
static void test_deadline_of_a_device(void **state)
{
	struct io_user_qp from[8];

	(void)state;
	for (unsigned i = 0; i < 8; i++) { /* of the first device and of the last */
		io_user_qp_create(&from[i], &w.u[i % 2 * 2], IBV_QPT_RC);
		from[i].timeout = 9; /* 2 ms: longer than the loop stays awake for nothing */
		io_user_qp_connect(&from[i], w.u[1].dev, 0x7fffff);
	}
	run_loop();
	for (unsigned i = 0; i < 8; i++) {
		await_sleep();
		io_user_send(&from[i], message, 10);
		io_user_ring(&from[i]);
		assert_int_equal(io_user_await(&from[i]).status, UHCA_ABI_WC_RETRY_EXC_ERR);
	}
	end_loop();
}

/* A packet that a rule holds arrives when its time has come. */
static void test_deadline_of_a_rule(void **state)
{
	struct io_user_qp from, to;
	struct fault_error error;

	(void)state;
	io_user_qp_create(&to, &w.u[1], IBV_QPT_UD);
	io_user_qp_connect(&to, NULL, 0);
	io_user_recv(&to, 1, 8192, 4096);
	io_user_qp_create(&from, &w.u[0], IBV_QPT_UD);
	io_user_qp_connect(&from, NULL, 0);
	io_user_send(&from,
		     (struct uhca_abi_send_wqe){
			     .opcode = UHCA_ABI_WR_SEND,
			     .ud = {.ah = io_user_ah(&w.u[0], w.u[1].dev->id.addresses.a[0].gid),
				    .remote_qpn = to.qpn}},
		     100);
	assert_true(io_faults_add(&w.t.d.faults, "delay=20ms", io_clock_now(), &error) > 0);
	io_faults_changed(&w.t.d.faults);
	run_loop();
	io_user_ring(&from);
	assert_int_equal(io_user_await(&to).byte_len, 140);
	end_loop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define WIRE(name) cmocka_unit_test_setup_teardown(name, setup_wire, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_everybody_is_served), TEST(test_each_alone),
		WIRE(test_everybody_is_served), WIRE(test_each_alone),
		TEST(test_deadline_of_a_rule),  TEST(test_deadline_of_a_device),
		TEST(test_many_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
