/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets by source port: each flow keeps its own, a port that is taken is replaced by the
 * RoCEv2 port, and however many flows come and go, the number of sockets stays bounded.
 */
#include "emu/io/base/clock.h"
#include "emu/io/net/udp_flow.h"
#include "emu/io/net/udp_socket.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/packet.h"

#include <unistd.h>

struct fixture {
	struct io_udp_flows f;
	int main_fd;
	unsigned fds;
};

static int setup(void **state)
{
	static struct fixture x;
	struct io_address a = io_test_address(1);
	size_t rcvbuf;

	x.main_fd = io_udp_socket_open(&a, false, &rcvbuf);
	assert_true(x.main_fd >= 0);
	x.fds = io_test_open_fds();
	io_udp_flows_init(&x.f, &a, x.main_fd);
	*state = &x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	io_udp_flows_close(&x->f);
	assert_int_equal(io_test_open_fds(), x->fds);
	close(x->main_fd);
	return 0;
}

static uint16_t port_of(int fd)
{
	union io_sockaddr sa;
	socklen_t len = sizeof(sa);

	assert_int_equal(getsockname(fd, &sa.any, &len), 0);
	return ntohs(sa.v4.sin_port);
}

static void test_own_port(void **state)
{
	struct fixture *x = *state;

	for (unsigned round = 0; round < 2; round++) {
		for (uint16_t port = 0xc000; port < 0xc020; port++) {
			uint16_t bound = port;
			int fd = io_udp_flows_get(&x->f, &bound, IO_SEC);

			assert_int_equal(bound, port);
			assert_int_equal(port_of(fd), port);
		}
	}
	assert_int_equal(x->f.count, 0x20);
}

static void test_taken_port(void **state)
{
	struct fixture *x = *state;
	int other = io_udp_socket_open_flow(&x->f.address, 0xd000);
	uint16_t bound;

	assert_true(other >= 0);
	for (unsigned i = 0; i < 3; i++) {
		bound = 0xd000;
		assert_int_equal(io_udp_flows_get(&x->f, &bound, IO_SEC), x->main_fd);
		assert_int_equal(bound, ROCE_UDP_PORT);
	}
	close(other);
	bound = ROCE_UDP_PORT;
	assert_int_equal(io_udp_flows_get(&x->f, &bound, IO_SEC), x->main_fd);
	assert_int_equal(bound, ROCE_UDP_PORT);
}

/* More flows at once than there may be sockets: some share the main one. */
static void test_too_many(void **state)
{
	struct fixture *x = *state;
	unsigned shared = 0;

	for (uint16_t port = 0xc000; port < 0xc000 + 2 * IO_UDP_FLOWS; port++) {
		uint16_t bound = port;

		io_udp_flows_get(&x->f, &bound, IO_SEC);
		assert_true(bound == port || bound == ROCE_UDP_PORT);
		shared += bound == ROCE_UDP_PORT;
	}
	assert_in_range(shared, IO_UDP_FLOWS, 2 * IO_UDP_FLOWS - 1);
	assert_in_range(x->f.count, 1, IO_UDP_FLOWS);
	assert_int_equal(io_test_open_fds(), x->fds + x->f.count);
}

/* Flows that were idle make room. */
static void test_come_and_go(void **state)
{
	struct fixture *x = *state;
	uint64_t now = IO_SEC;

	for (uint16_t port = 0xc000; port < 0xc000 + 3 * IO_UDP_FLOWS; port++) {
		uint16_t bound = port;

		now += 2 * IO_SEC;
		io_udp_flows_get(&x->f, &bound, now);
		assert_int_equal(bound, port);
	}
	assert_in_range(x->f.count, 1, IO_UDP_FLOWS);
}

/* One that is used stays, whoever comes. */
static void test_used(void **state)
{
	struct fixture *x = *state;
	uint64_t now = IO_SEC;
	uint16_t own = 0xb000;
	int fd = io_udp_flows_get(&x->f, &own, now);

	assert_int_equal(own, 0xb000);
	for (uint16_t port = 0xc000; port < 0xc000 + 3 * IO_UDP_FLOWS; port++) {
		uint16_t bound = port;

		now += 2 * IO_SEC;
		io_udp_flows_get(&x->f, &bound, now);
		now += IO_SEC;
		bound = own;
		assert_int_equal(io_udp_flows_get(&x->f, &bound, now), fd);
		assert_int_equal(bound, own);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_own_port),    TEST(test_taken_port), TEST(test_too_many),
		TEST(test_come_and_go), TEST(test_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
