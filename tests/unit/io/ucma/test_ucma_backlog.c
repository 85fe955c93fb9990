/* SPDX-License-Identifier: BSD-2-Clause */
/* A full backlog drops requests, which come again; it is shared among the hosts that ask. */
#include "emu/io/base/clock.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

#define PORT     7471
#define REPEATED (1200 * IO_MSEC) /* by then */
#define ROOM     4
#define FEW      0 /* the device of who asks for little, and of who listens */
#define MANY     1

/* rdma_cma.h, which cannot be included beside rdma_user_cm.h */
enum event {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
};

static struct io_test_daemon t;
static struct ucma_client server, c;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	ucma_client_open(&server, &t.d);
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&server);
	ucma_client_close(&c);
	io_test_daemon_end(&t);
	return 0;
}

#define GOOD(client, cmd, in)                                                                      \
	assert_int_equal(                                                                          \
		ucma_client_call(&(client), RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1), 0)

static void listen_there(void)
{
	uint32_t id = ucma_client_create(&server, RDMA_PS_TCP, 1);
	struct rdma_ucm_bind_ip bind = {.addr = ucma_client_address(&t.d, FEW, PORT), .id = id};
	struct rdma_ucm_listen listen = {.id = id, .backlog = ROOM};

	GOOD(server, BIND_IP, bind);
	GOOD(server, LISTEN, listen);
}

/* A request from the device; "who" is its QP, and what the caller calls its id. */
static void ask(unsigned device, uint32_t who)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, who);
	struct rdma_ucm_resolve_ip addr = {
		.id = id,
		.src_addr = ucma_client_address(&t.d, device, 0),
		.dst_addr = ucma_client_address(&t.d, FEW, PORT),
		.timeout_ms = 1000,
	};
	struct rdma_ucm_resolve_route route = {.id = id, .timeout_ms = 1000};
	struct rdma_ucm_connect connect = {.id = id, .conn_param = {.valid = 1, .qp_num = who}};

	GOOD(c, RESOLVE_IP, addr);
	ucma_client_expect(&c, ADDR_RESOLVED, who);
	GOOD(c, RESOLVE_ROUTE, route);
	ucma_client_expect(&c, ROUTE_RESOLVED, who);
	GOOD(c, CONNECT, connect);
}

static void nobody_is_refused(void)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(ucma_client_event(&c, &e), -EAGAIN);
}

/* All that has no answer is sent again. */
static void repeat(void)
{
	uint64_t now = io_clock_now() + REPEATED;

	for (unsigned i = 0; i < t.d.devices.n; i++)
		core_tick(t.d.devices.at[i]->core, now);
}

/* The next n requests are of these, in whichever order; each is taken. */
static void wait_too(const uint32_t *who, unsigned n)
{
	uint32_t sum = 0, expected = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += ucma_client_expect(&server, CONNECT_REQUEST, 1).param.conn.qp_num;
		expected += who[i];
	}
	assert_int_equal(sum, expected);
}

static void waits(uint32_t who)
{
	struct rdma_ucm_event_resp e = ucma_client_expect(&server, CONNECT_REQUEST, 1);

	assert_int_equal(e.param.conn.qp_num, who);
}

/* Who came first has all of it, until another one asks: then both have a half. */
static void test_shared(void **state)
{
	(void)state;
	listen_there();
	for (uint32_t who = 10; who < 10 + ROOM; who++)
		ask(MANY, who);
	ask(MANY, 14);
	ask(FEW, 20); /* in the place of 13 */
	ask(FEW, 21); /* in the place of 12 */
	ask(FEW, 22);
	nobody_is_refused();
	waits(10);
	waits(11);
	waits(20);
	waits(21);
	ask(FEW, 23); /* what was taken makes room */
	waits(23);
	repeat();
	wait_too((const uint32_t[]){12, 13, 14, 22}, 4);
	nobody_is_refused();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
	};

	return cmocka_run_group_tests_name("ucma_backlog", tests, NULL, NULL);
}
