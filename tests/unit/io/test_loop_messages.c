/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop that has answered a message expects another one: it takes it at its next look, and does
 * not sleep in between. The clock is the test's, so that this is so on any machine: while it stands
 * still, no look at the descriptors is due, and no time for a sleep comes.
 */
#include "emu/io/base/clock.h"
#include "emu/io/loop.h"
#include "tests/support/io/io_user.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct world {
	struct io_test_daemon t;
	struct io_user u;
	pthread_t thread;
	int error;      /* of the loop */
	uint64_t clock; /* 0: the real one */
} w;

uint64_t __real_io_clock_now(void);
uint64_t __wrap_io_clock_now(void);
uint64_t __wrap_io_clock_now(void)
{
	uint64_t at = __atomic_load_n(&w.clock, __ATOMIC_ACQUIRE);

	return at ? at : __real_io_clock_now();
}

static void set_clock(uint64_t at)
{
	__atomic_store_n(&w.clock, at, __ATOMIC_RELEASE);
}

/* For an answer, or a sleep, with everybody else's turn between two looks. */
static bool go_on(uint64_t since)
{
	return sched_yield() == 0 && __real_io_clock_now() - since < IO_TEST_SECONDS * IO_SEC;
}

static bool is_asleep(void)
{
	return __atomic_load_n(&w.u.status->need_wakeup, __ATOMIC_RELAXED);
}

static void send_question(void)
{
	struct uhca_cmd_handle in = {.h = {UHCA_CMD_QUERY_PORT, sizeof(in), ++w.u.c.sequence, 0},
				     .handle = 1};

	assert_int_equal(send(w.u.c.sock, &in, sizeof(in), 0), sizeof(in));
}

/* Is there an answer, before the time is over? */
static bool await_answer(void)
{
	const uint64_t began = __real_io_clock_now();
	struct uhca_cmd_port_attr out;

	while (recv(w.u.c.sock, &out, sizeof(out), MSG_DONTWAIT) < 0)
		if (!go_on(began))
			return false;
	return out.h.status == 0 && out.h.sequence == w.u.c.sequence;
}

/* The clock goes on, in steps that are shorter than what the loop stays awake for nothing. */
static bool await_sleep(void)
{
	const uint64_t began = __real_io_clock_now();

	while (!is_asleep()) {
		set_clock(w.clock + 10 * IO_USEC);
		if (!go_on(began))
			return false;
	}
	return true;
}

static void *run(void *arg)
{
	(void)arg;
	w.error = io_loop_run(&w.t.d);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&w.t, 1);
	io_user_open(&w.u, &w.t.d, w.t.d.ports[0].dev.id.name);
	set_clock(__real_io_clock_now());
	assert_int_equal(pthread_create(&w.thread, NULL, run, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	set_clock(w.clock + IO_SEC);
	kill(getpid(), SIGTERM);
	assert_int_equal(pthread_join(w.thread, NULL), 0);
	set_clock(0);
	assert_int_equal(w.error, 0);
	w.t.d.stop = false;
	io_user_close(&w.u);
	io_test_daemon_end(&w.t);
	return 0;
}

/*
 * The clock stands before the first message, which wakes the daemon: all others are taken at that
 * very instant. When so much time has passed without one, it sleeps; and the next one wakes it.
 */
static void test_one_after_the_other(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		assert_true(await_sleep());
		set_clock(w.clock + IO_SEC); /* a backoff ends (yield_backoff.h) */
		send_question();
		assert_true(await_answer());
		for (unsigned i = 0; i < 50; i++) {
			/* The first may all have been taken before it says that it is awake. */
			assert_true(i < 10 || !is_asleep());
			send_question();
			assert_true(await_answer());
		}
	}
}

/* Those of rdma_cm are messages, too. */
static void test_messages_are_counted(void **state)
{
	struct ucma_client cm;
	uint64_t before;

	(void)state;
	io_test_daemon_begin(&w.t, 1);
	io_user_open(&w.u, &w.t.d, w.t.d.ports[0].dev.id.name);
	assert_int_equal(w.t.d.clients.heard, 3); /* HELLO, a PD, a region */
	ucma_client_open(&cm, &w.t.d);
	before = w.t.d.ucma.heard;
	ucma_client_create(&cm, RDMA_PS_TCP, 1);
	assert_int_equal(w.t.d.ucma.heard, before + 1);
	ucma_client_close(&cm);
	io_user_close(&w.u);
	io_test_daemon_end(&w.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_after_the_other, setup, teardown),
		cmocka_unit_test(test_messages_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
