/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules about commands of the rdma_cm device, in the daemon: errors at once and by events, commands
 * that wait while others do not, and ids whose device goes.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, DEVICE_REMOVAL = 11 };

static struct io_test_daemon t;
static struct ucma_client c;
static unsigned fds;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	fds = io_test_open_fds();
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&c);
	assert_int_equal(t.d.ucma.n_files, 0);
	assert_int_equal(io_test_open_fds(), fds);
	io_test_daemon_end(&t);
	return 0;
}

static void add(const char *text)
{
	struct fault_error error;

	if (io_faults_add(&t.d.faults, text, io_clock_now(), &error) <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	io_faults_changed(&t.d.faults);
}

static int create(uint64_t uid, uint32_t *id)
{
	struct rdma_ucm_create_id in = {.uid = uid, .ps = RDMA_PS_TCP};
	struct rdma_ucm_create_id_resp resp;
	int status = ucma_client_call(&c, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), -1);

	memcpy(&resp, c.reply.response, sizeof(resp));
	*id = resp.id;
	return status;
}

static int resolve_addr(uint32_t id, unsigned device)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7471)};
	struct rdma_ucm_resolve_ip in = {.id = id};

	memcpy(&v4.sin_addr, t.d.ports[device].dev.id.addresses.a[0].gid + 12, 4);
	memcpy(&in.dst_addr, &v4, sizeof(v4));
	memcpy(&in.src_addr, &v4, sizeof(v4));
	((struct sockaddr_in *)(void *)&in.src_addr)->sin_port = 0;
	return ucma_client_call(&c, RDMA_USER_CM_CMD_RESOLVE_IP, &in, sizeof(in), -1);
}

static int resolve_route(uint32_t id)
{
	struct rdma_ucm_resolve_route in = {.id = id};

	return ucma_client_call(&c, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &in, sizeof(in), -1);
}

static void expect_event(uint32_t type, int status)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(ucma_client_event(&c, &e), type);
	assert_int_equal((int)e.status, status);
}

static void test_errors(void **state)
{
	uint32_t id;

	(void)state;
	add("call.fail=EMFILE call=rdma_create_id nth=1");
	add("call.fail=EADDRNOTAVAIL call=rdma_resolve_addr nth=1");
	add("call.fail=EHOSTUNREACH call=rdma_resolve_addr nth=1");
	add("call.fail=ENETUNREACH call=rdma_resolve_route nth=1");
	add("call.fail=ENODEV call=rdma_resolve_route nth=1");
	assert_int_equal(create(1, &id), -EMFILE);
	assert_int_equal(create(1, &id), 0);
	assert_int_equal(resolve_addr(id, 0), -EADDRNOTAVAIL);
	assert_int_equal(resolve_addr(id, 0), 0);
	expect_event(ADDR_ERROR, -EHOSTUNREACH);
	assert_int_equal(resolve_addr(id, 0), 0);
	expect_event(ADDR_RESOLVED, 0);
	assert_int_equal(resolve_route(id), -ENETUNREACH);
	assert_int_equal(resolve_route(id), 0);
	expect_event(ROUTE_ERROR, -ENODEV);
	assert_int_equal(resolve_route(id), 0);
	expect_event(ROUTE_RESOLVED, 0);
}

/* The program is known by a context of its own, if it has one. */
static void test_program(void **state)
{
	struct io_test_client v;
	uint32_t id;

	(void)state;
	add("call.fail=EPERM call=rdma_create_id client=1");
	assert_int_equal(create(1, &id), 0);
	io_test_hello(&v, &t.d, "uhca1");
	assert_int_equal(create(2, &id), -EPERM);
	io_test_disconnect(&v);
}

/* CREATE_ID without waiting for the answer, which comes to the descriptor that is returned. */
static int send_create(void)
{
	struct {
		struct uhca_ucma_request r;
		struct rdma_ucm_cmd_hdr h;
		struct rdma_ucm_create_id in;
	} m = {.r = {UHCA_UCMA_MAGIC, RDMA_USER_CM_CMD_CREATE_ID, sizeof(m) - sizeof(m.r), 0},
	       .in = {.ps = RDMA_PS_TCP}};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(io_message_send(c.sock, &m, sizeof(m), &pair[1], 1), 0);
	close(pair[1]);
	io_test_loop_pass(t.d.loop);
	return pair[0];
}

static bool answered(void *sock)
{
	char byte;

	return recv(*(int *)sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* It is answered in the end; what waits when the program goes leaves nothing. */
static void test_slow(void **state)
{
	char byte;
	uint32_t id;
	int sock;

	(void)state;
	add("call.slow=10ms call=rdma_create_id nth=1");
	add("call.slow=3600s call=rdma_create_id nth=2");
	sock = send_create();
	assert_true(io_test_run(t.d.loop, answered, &sock));
	close(sock);
	sock = send_create();
	assert_false(answered(&sock));
	assert_int_equal(create(2, &id), 0); /* others go on */
	ucma_client_close(&c);
	ucma_client_settle(&t.d);
	assert_int_equal(recv(sock, &byte, 1, MSG_DONTWAIT), 0);
	close(sock);
	ucma_client_open(&c, &t.d);
}

/* Once for each id of this device; the others do not hear of it. */
static void test_removal(void **state)
{
	uint32_t ours, others;
	struct rdma_ucm_event_resp e;

	(void)state;
	assert_int_equal(create(1, &ours), 0);
	assert_int_equal(create(2, &others), 0);
	assert_int_equal(resolve_addr(ours, 0), 0);
	expect_event(ADDR_RESOLVED, 0);
	assert_int_equal(resolve_addr(others, 1), 0);
	expect_event(ADDR_RESOLVED, 0);
	for (unsigned i = 0; i < 2; i++)
		t.d.faults.env.fatal(&t.d, &t.d.ports[0].dev);
	assert_int_equal(ucma_client_event(&c, &e), DEVICE_REMOVAL);
	assert_int_equal(e.uid, 1);
	assert_int_equal(ucma_client_event(&c, &e), -EAGAIN);
	assert_int_equal(resolve_route(ours), -EINVAL);
	assert_int_equal(resolve_route(others), 0);
	expect_event(ROUTE_RESOLVED, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_errors),
		TEST(test_program),
		TEST(test_slow),
		TEST(test_removal),
	};

	return cmocka_run_group_tests_name("ucma_fault", tests, NULL, NULL);
}
