/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon is behind: the end of the time for an answer has come, and the answer, or the request
 * for it, lies in a socket of its own behind much else. Nothing is lost. Time is the test's.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/deadlines.h"
#include "emu/io/net/udp_socket.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 2
#define LATE    (500 * IO_MSEC) /* longer than the timeout below, with all its patience */
#define JUNK    100             /* more than a look takes */

static struct io_test_daemon t;
static struct io_user u[DEVICES];
static struct io_user_qp from, to;
static uint64_t now;

static const struct uhca_abi_send_wqe message = {.opcode = UHCA_ABI_WR_SEND};

static void start(enum io_wire_mode wire)
{
	struct io_settings s;

	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, DEVICES);
	s.wire = wire;
	io_test_daemon_start(&t, &s);
	for (unsigned i = 0; i < DEVICES; i++)
		io_user_open(&u[i], &t.d, t.d.ports[i].dev.id.name);
	io_user_qp_create(&from, &u[0], IBV_QPT_RC);
	io_user_qp_create(&to, &u[1], IBV_QPT_RC);
	from.timeout = 9; /* 2 ms */
	from.retry_cnt = 0;
	io_user_qp_connect(&to, u[0].dev, from.qpn);
	for (unsigned i = 0; i < IO_USER_WR; i++)
		io_user_recv(&to, i, 8192, 4096);
	now = io_clock_now();
}

static int setup(void **state)
{
	(void)state;
	start(IO_WIRE_ALWAYS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DEVICES; i++)
		io_user_close(&u[i]);
	io_test_daemon_stop(&t);
	io_log_close();
	return 0;
}

static void send_all(unsigned device)
{
	while (io_device_send(&t.d.ports[device].dev, now, t.d.devices.buf, t.d.devices.cap, 100))
		;
}

/* Into the socket of a device, in front of what is sent to it next. */
static void send_junk(unsigned device)
{
	struct io_address a = io_test_address(9);
	int fd = io_udp_socket_open_flow(&a, 0xc000);
	union io_sockaddr sa;
	socklen_t len =
		io_address_to_sockaddr(&t.d.ports[device].udp.port[0].address, ROCE_UDP_PORT, &sa);

	for (unsigned i = 0; i < JUNK; i++)
		assert_int_equal(sendto(fd, "junk", 1 + i % 4, 0, &sa.any, len), 1 + i % 4);
	close(fd);
}

static void post(unsigned n)
{
	while (n-- > 0)
		io_user_send(&from, message, 100);
	io_user_ring(&from);
	for (unsigned i = 0; i < t.d.clients.n; i++)
		io_client_doorbells(t.d.clients.at[i], now);
}

static uint64_t timeouts(void)
{
	return core_counters(u[0].dev->core)->timeouts;
}

static uint32_t status(void)
{
	struct uhca_abi_cqe e;

	assert_true(io_user_poll(&from, &e));
	return e.status;
}

/* The request has not been seen, and the answer to it does not exist yet. */
static void test_request_waits(void **state)
{
	(void)state;
	io_user_qp_connect(&from, u[1].dev, to.qpn);
	send_junk(1);
	post(1);
	send_all(0);
	now += LATE;
	assert_true(io_deadlines_run(&t.d, now));
	assert_int_equal(timeouts(), 0);
	assert_int_equal(status(), UHCA_ABI_WC_SUCCESS);
}

/* The request was seen, its answer has not left, or waits for company. */
static void test_answer_is_owed(void **state)
{
	(void)state;
	io_user_qp_connect(&from, u[1].dev, to.qpn);
	post(1);
	send_all(0);
	assert_true(io_udp_drain(&t.d.ports[1].udp, now));
	now += LATE;
	assert_true(io_deadlines_run(&t.d, now));
	assert_int_equal(timeouts(), 0);
	assert_int_equal(status(), UHCA_ABI_WC_SUCCESS);
}

static void test_answer_waits(void **state)
{
	(void)state;
	io_user_qp_connect(&from, u[1].dev, to.qpn);
	post(1);
	send_all(0);
	send_junk(0);
	assert_true(io_udp_drain(&t.d.ports[1].udp, now));
	core_hurry(u[1].dev->core);
	send_all(1);
	now += LATE;
	assert_true(io_deadlines_run(&t.d, now));
	assert_int_equal(timeouts(), 0);
	assert_int_equal(status(), UHCA_ABI_WC_SUCCESS);
}

/* Requests are no answers: they would fill the sockets, and it would take longer. */
static void test_requests_stay(void **state)
{
	struct io_user_qp other;

	(void)state;
	io_user_qp_connect(&from, u[1].dev, to.qpn);
	post(1);
	send_all(0);
	io_user_qp_create(&other, &u[0], IBV_QPT_RC);
	io_user_qp_connect(&other, u[1].dev, 0x7fffff);
	for (unsigned i = 0; i < 20; i++)
		io_user_send(&other, message, 100);
	io_user_ring(&other);
	io_client_doorbells(t.d.clients.at[0], now);
	now += LATE;
	assert_true(io_deadlines_run(&t.d, now));
	assert_int_equal(timeouts(), 0);
	assert_int_equal(t.d.ports[0].udp.counters.tx_packets, 1);
	assert_int_equal(t.d.ports[1].udp.counters.tx_packets, 1);
	send_all(0);
	assert_int_equal(t.d.ports[0].udp.counters.tx_packets, 21);
}

/* Nobody answers: that is found in the same call, whatever else came. */
static void test_nobody_answers(void **state)
{
	(void)state;
	io_user_qp_connect(&from, u[1].dev, 0x7fffff);
	post(1);
	send_all(0);
	send_junk(0);
	send_junk(1);
	now += LATE;
	assert_true(io_deadlines_run(&t.d, now));
	assert_int_equal(timeouts(), 1);
	assert_int_equal(status(), UHCA_ABI_WC_RETRY_EXC_ERR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request_waits), TEST(test_answer_is_owed), TEST(test_answer_waits),
		TEST(test_requests_stay), TEST(test_nobody_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
