/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel's events keep the order in which they happened: a DISCONNECTED that waits for its
 * reader holds those behind it, and whatever ends the wait lets all of them go.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/io_user.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <unistd.h>

#define PORT 7471

/* rdma_cma.h, which cannot be included beside rdma_user_cm.h */
enum event {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5,
	ESTABLISHED = 9,
	DISCONNECTED = 10,
	DEVICE_REMOVAL = 11,
};

enum { LISTENER = 1, OLD, ACCEPTED, NEW };

static struct io_test_daemon t;
static struct ucma_client server, caller;
static struct io_user u;
static struct io_user_qp from, to; /* to: the accepted end's, with a completion that is unread */
static uint32_t accepted;

#define GOOD(client, cmd, in)                                                                      \
	assert_int_equal(                                                                          \
		ucma_client_call(&(client), RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1), 0)

static void listen_there(void)
{
	uint32_t id = ucma_client_create(&server, RDMA_PS_TCP, LISTENER);
	struct rdma_ucm_bind_ip bind = {.addr = ucma_client_address(&t.d, 0, PORT), .id = id};
	struct rdma_ucm_listen listen = {.id = id, .backlog = 4};

	GOOD(server, BIND_IP, bind);
	GOOD(server, LISTEN, listen);
}

static uint32_t call(uint64_t uid)
{
	uint32_t id = ucma_client_create(&caller, RDMA_PS_TCP, uid);
	struct rdma_ucm_resolve_ip addr = {.id = id,
					   .dst_addr = ucma_client_address(&t.d, 0, PORT)};
	struct rdma_ucm_resolve_route route = {.id = id};
	struct rdma_ucm_connect connect = {.id = id,
					   .conn_param = {.valid = 1, .qp_num = (uint32_t)uid}};

	GOOD(caller, RESOLVE_IP, addr);
	ucma_client_expect(&caller, ADDR_RESOLVED, uid);
	GOOD(caller, RESOLVE_ROUTE, route);
	ucma_client_expect(&caller, ROUTE_RESOLVED, uid);
	GOOD(caller, CONNECT, connect);
	return id;
}

static void receive_a_message(void)
{
	io_user_open(&u, &t.d, t.d.ports[0].dev.id.name);
	io_user_qp_create(&from, &u, IBV_QPT_RC);
	io_user_qp_create(&to, &u, IBV_QPT_RC);
	io_user_qp_connect(&from, u.dev, to.qpn);
	io_user_qp_connect(&to, u.dev, from.qpn);
	io_user_recv(&to, 1, 8192, 4096);
	io_user_send(&from, (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND}, 100);
	io_user_ring(&from);
	for (unsigned i = 0; i < 10; i++)
		io_user_loop_pass(&t.d);
}

/* A connection whose caller has ended it; the one who accepted has something to read before. */
static void connect_and_end(void)
{
	struct rdma_ucm_disconnect disconnect = {.id = call(OLD)};
	struct rdma_ucm_accept accept = {.uid = ACCEPTED, .conn_param = {.valid = 1}};
	struct rdma_ucm_accept ready = {.id = disconnect.id};

	accepted = accept.id = ucma_client_expect(&server, CONNECT_REQUEST, LISTENER).id;
	accept.conn_param.qp_num = to.qpn;
	GOOD(server, ACCEPT, accept);
	ucma_client_expect(&caller, CONNECT_RESPONSE, OLD);
	GOOD(caller, ACCEPT, ready);
	ucma_client_expect(&server, ESTABLISHED, ACCEPTED);
	GOOD(caller, DISCONNECT, disconnect);
}

static void hears_nothing(struct ucma_client *c)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(ucma_client_event(c, &e), -EAGAIN);
}

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	ucma_client_open(&server, &t.d);
	ucma_client_open(&caller, &t.d);
	listen_there();
	receive_a_message();
	connect_and_end();
	hears_nothing(&server);
	call(NEW);
	hears_nothing(&server);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_user_close(&u);
	ucma_client_close(&server);
	ucma_client_close(&caller);
	io_test_daemon_end(&t);
	return 0;
}

static void read_it(void)
{
	struct uhca_abi_cqe e;

	assert_true(io_user_poll(&to, &e));
	core_tick(u.dev->core, io_clock_now() + IO_MSEC);
}

static void test_read(void **state)
{
	(void)state;
	read_it();
	ucma_client_expect(&server, DISCONNECTED, ACCEPTED);
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
	hears_nothing(&server);
}

/* Who never reads holds nobody up for longer than a moment. */
static void test_page_worker(void **state)
{
	(void)state;
	core_tick(u.dev->core, io_clock_now() + 101 * IO_MSEC);
	ucma_client_expect(&server, DISCONNECTED, ACCEPTED);
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
}

/* The other side hears of the end when this one has answered. */
static void test_answer(void **state)
{
	struct rdma_ucm_disconnect disconnect = {.id = accepted};

	(void)state;
	hears_nothing(&caller);
	GOOD(server, DISCONNECT, disconnect);
	ucma_client_expect(&caller, DISCONNECTED, OLD);
	ucma_client_expect(&server, DISCONNECTED, ACCEPTED);
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
}

static void test_destroyed(void **state)
{
	struct rdma_ucm_destroy_id destroy = {.id = accepted};

	(void)state;
	GOOD(server, DESTROY_ID, destroy);
	assert_int_equal(server.reply.h.flags, 0); /* there is something to take */
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
	ucma_client_expect(&caller, DISCONNECTED, OLD);
}

static void test_device_removed(void **state)
{
	uint32_t seen[DEVICE_REMOVAL + 1] = {0};
	struct rdma_ucm_event_resp e;

	(void)state;
	io_ucma_remove_device(&t.d.ucma, u.dev);
	ucma_client_expect(&server, DISCONNECTED, ACCEPTED);
	while (ucma_client_event(&server, &e) >= 0)
		seen[e.event]++;
	assert_int_equal(seen[CONNECT_REQUEST], 1);
	assert_int_equal(seen[DEVICE_REMOVAL], 2);
}

/* The held event goes with its id, and is held where it comes to; the others need not wait. */
static void test_moved(void **state)
{
	struct rdma_ucm_migrate_id move = {.id = accepted};
	struct ucma_client other;

	(void)state;
	ucma_client_open(&other, &t.d);
	assert_int_equal(ucma_client_call(&other, RDMA_USER_CM_CMD_MIGRATE_ID, &move, sizeof(move),
					  server.sock),
			 0);
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
	hears_nothing(&other);
	read_it();
	ucma_client_expect(&other, DISCONNECTED, ACCEPTED);
	close(other.sock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read),      TEST(test_page_worker),    TEST(test_answer),
		TEST(test_destroyed), TEST(test_device_removed), TEST(test_moved),
	};

	return cmocka_run_group_tests_name("ucma_order", tests, NULL, NULL);
}
