/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon ends under its programs: peers in another daemon hear that their connections and
 * requests have ended.
 */
#include "emu/io/base/log.h"
#include "emu/io/device/devices.h"
#include "emu/io/last_words.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>
#include <unistd.h>

#define PORT     7471
#define CONSUMER 28 /* reason of a REJ, 12.6.7.2 */

/* rdma_cma.h, which cannot be included beside rdma_user_cm.h */
enum event {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5,
	REJECTED = 8,
	ESTABLISHED = 9,
	DISCONNECTED = 10,
};

enum { LISTENER = 1, CONNECTED, ASKING, ACCEPTED };

static struct io_test_daemon here, there;
static struct ucma_client server, caller; /* of here and there */

#define GOOD(client, cmd, in)                                                                      \
	assert_int_equal(                                                                          \
		ucma_client_call(&(client), RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1), 0)

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 1);
	s.wire = IO_WIRE_AUTO;
	s.addresses[0].a[0] = io_test_address(5);
	io_test_daemon_start(&there, &s);
	io_signals_close(&there.d.signals); /* libev gives them to one loop only */
	ucma_client_open(&caller, &there.d);
	io_test_settings(&s, 1);
	s.wire = IO_WIRE_AUTO;
	io_test_daemon_start(&here, &s);
	ucma_client_open(&server, &here.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&caller);
	io_test_daemon_stop(&there);
	io_log_close();
	return 0;
}

static void listen_here(void)
{
	uint32_t id = ucma_client_create(&server, RDMA_PS_TCP, LISTENER);
	struct rdma_ucm_bind_ip bind = {.addr = ucma_client_address(&here.d, 0, PORT), .id = id};
	struct rdma_ucm_listen listen = {.id = id, .backlog = 4};

	GOOD(server, BIND_IP, bind);
	GOOD(server, LISTEN, listen);
}

/* The id of the caller; the request is the server's next event. */
static uint32_t call(uint64_t uid)
{
	uint32_t id = ucma_client_create(&caller, RDMA_PS_TCP, uid);
	struct rdma_ucm_resolve_ip addr = {.id = id,
					   .dst_addr = ucma_client_address(&here.d, 0, PORT)};
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

static void connect_there(void)
{
	struct rdma_ucm_accept ready = {.id = call(CONNECTED)};
	struct rdma_ucm_accept accept = {.uid = ACCEPTED, .conn_param = {.valid = 1, .qp_num = 6}};

	accept.id = ucma_client_expect(&server, CONNECT_REQUEST, LISTENER).id;
	GOOD(server, ACCEPT, accept);
	ucma_client_expect(&caller, CONNECT_RESPONSE, CONNECTED);
	GOOD(caller, ACCEPT, ready);
	ucma_client_expect(&server, ESTABLISHED, ACCEPTED);
}

static void test_ends(void **state)
{
	(void)state;
	listen_here();
	connect_there();
	call(ASKING);
	ucma_client_expect(&server, CONNECT_REQUEST, LISTENER);
	close(server.sock);
	io_daemon_destroy(&here.d); /* its descriptors are counted with those of there */
	io_test_remove_dir(here.dir);
	assert_int_equal(ucma_client_expect(&caller, REJECTED, ASKING).status, CONSUMER);
	ucma_client_expect(&caller, DISCONNECTED, CONNECTED);
}

/* Of a daemon that did not get as far as a buffer. */
static void test_nothing(void **state)
{
	struct io_device dev = {.dirty = true};
	struct io_devices all = {.n = 1, .at[0] = &dev};

	(void)state;
	io_last_words(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("last_words", tests, NULL, NULL);
}
