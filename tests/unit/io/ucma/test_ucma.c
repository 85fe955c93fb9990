/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of the rdma_cm device against a daemon: what each answers to what it should not get, as
 * the kernel's; what is no request ends the connection; a session of two ids; nothing is left.
 */
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define UNKNOWN 12345u
#define PORT    7471

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
	for (uint32_t i = 0; i < t.d.ucma.numbers.used_once; i++)
		assert_null(t.d.ucma.numbers.slot[i]);
	assert_int_equal(io_test_open_fds(), fds);
	io_test_daemon_end(&t);
	return 0;
}

static uint32_t create(struct ucma_client *of, uint16_t ps, uint64_t uid)
{
	return ucma_client_create(of, ps, uid);
}

static struct sockaddr_in6 address(unsigned device, uint16_t port)
{
	return ucma_client_address(&t.d, device, port);
}

static int bind_id(uint32_t id, struct sockaddr_in6 a)
{
	struct rdma_ucm_bind_ip in = {.addr = a, .id = id};

	return ucma_client_call(&c, RDMA_USER_CM_CMD_BIND_IP, &in, sizeof(in), -1);
}

/* Each command of an id that is not there; and cut short, which leaves zeros: id 0 is not there. */
static void test_unknown_ids(void **state)
{
	static const struct {
		uint32_t cmd;
		size_t len, id_at;
	} rows[] = {
		{RDMA_USER_CM_CMD_DESTROY_ID, sizeof(struct rdma_ucm_destroy_id),
		 offsetof(struct rdma_ucm_destroy_id, id)},
		{RDMA_USER_CM_CMD_BIND_IP, sizeof(struct rdma_ucm_bind_ip),
		 offsetof(struct rdma_ucm_bind_ip, id)},
		{RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(struct rdma_ucm_resolve_ip),
		 offsetof(struct rdma_ucm_resolve_ip, id)},
		{RDMA_USER_CM_CMD_RESOLVE_ROUTE, sizeof(struct rdma_ucm_resolve_route),
		 offsetof(struct rdma_ucm_resolve_route, id)},
		{RDMA_USER_CM_CMD_QUERY_ROUTE, sizeof(struct rdma_ucm_query),
		 offsetof(struct rdma_ucm_query, id)},
		{RDMA_USER_CM_CMD_QUERY, sizeof(struct rdma_ucm_query),
		 offsetof(struct rdma_ucm_query, id)},
		{RDMA_USER_CM_CMD_CONNECT, sizeof(struct rdma_ucm_connect),
		 offsetof(struct rdma_ucm_connect, id)},
		{RDMA_USER_CM_CMD_LISTEN, sizeof(struct rdma_ucm_listen),
		 offsetof(struct rdma_ucm_listen, id)},
		{RDMA_USER_CM_CMD_ACCEPT, sizeof(struct rdma_ucm_accept),
		 offsetof(struct rdma_ucm_accept, id)},
		{RDMA_USER_CM_CMD_REJECT, sizeof(struct rdma_ucm_reject),
		 offsetof(struct rdma_ucm_reject, id)},
		{RDMA_USER_CM_CMD_DISCONNECT, sizeof(struct rdma_ucm_disconnect),
		 offsetof(struct rdma_ucm_disconnect, id)},
		{RDMA_USER_CM_CMD_INIT_QP_ATTR, sizeof(struct rdma_ucm_init_qp_attr),
		 offsetof(struct rdma_ucm_init_qp_attr, id)},
		{RDMA_USER_CM_CMD_NOTIFY, sizeof(struct rdma_ucm_notify),
		 offsetof(struct rdma_ucm_notify, id)},
		{RDMA_USER_CM_CMD_SET_OPTION, sizeof(struct rdma_ucm_set_option),
		 offsetof(struct rdma_ucm_set_option, id)},
		{RDMA_USER_CM_CMD_LEAVE_MCAST, sizeof(struct rdma_ucm_destroy_id),
		 offsetof(struct rdma_ucm_destroy_id, id)},
		{RDMA_USER_CM_CMD_MIGRATE_ID, sizeof(struct rdma_ucm_migrate_id),
		 offsetof(struct rdma_ucm_migrate_id, id)},
		{RDMA_USER_CM_CMD_BIND, sizeof(struct rdma_ucm_bind),
		 offsetof(struct rdma_ucm_bind, id)},
		{RDMA_USER_CM_CMD_RESOLVE_ADDR, sizeof(struct rdma_ucm_resolve_addr),
		 offsetof(struct rdma_ucm_resolve_addr, id)},
	};
	struct ucma_client other;
	uint32_t foreign;

	(void)state;
	ucma_client_open(&other, &t.d);
	foreign = create(&other, RDMA_PS_TCP, 1);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t ids[] = {UNKNOWN, UINT32_MAX, foreign};
		uint8_t in[UHCA_UCMA_MAX - 64] = {0};

		for (unsigned k = 0; k < 3; k++) {
			memcpy(in + rows[i].id_at, &ids[k], sizeof(ids[k]));
			assert_int_equal(ucma_client_call(&c, rows[i].cmd, in, rows[i].len, -1),
					 -ENOENT);
		}
	}
	close(other.sock);
}

static void test_unknown_commands(void **state)
{
	uint8_t in[16] = {0};

	(void)state;
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_GET_OPTION, in, sizeof(in), -1),
			 -ENOSYS);
	assert_int_equal(ucma_client_call(&c, 25, in, sizeof(in), -1), -EINVAL);
	assert_int_equal(ucma_client_call(&c, 0xffff, in, sizeof(in), -1), -EINVAL);
	assert_int_equal(ucma_client_call(&c, UHCA_UCMA_HELLO, NULL, 0, c.sock), -EINVAL);
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_GET_EVENT, in, 8, -1), -EAGAIN);
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_CREATE_ID, NULL, 0, -1), -EINVAL);
}

/* The open of the device is known by its socket, which is said once. */
static void test_hello(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct ucma_client late = {.daemon = &t.d};
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/" UHCA_UCMA_SOCKET, t.d.instance.dir);
	late.sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(late.sock, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(ucma_client_call(&late, UHCA_UCMA_HELLO, NULL, 0, -1), -EINVAL);
	assert_int_equal(ucma_client_call(&late, UHCA_UCMA_HELLO, NULL, 0, other), -EINVAL);
	assert_int_equal(ucma_client_call(&late, UHCA_UCMA_HELLO, NULL, 0, late.sock), 0);
	assert_int_equal(ucma_client_call(&late, UHCA_UCMA_HELLO, NULL, 0, late.sock), -EINVAL);
	close(other);
	close(late.sock);
}

/*
 * Somebody else's service, in the folder of the instance: one end listens, one is connected to it.
 */
static void open_service(int *listening, int *connected)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/service", t.d.instance.dir);
	*listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	*connected = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*listening, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(*listening, 1), 0);
	assert_int_equal(connect(*connected, (struct sockaddr *)&un, sizeof(un)), 0);
	unlink(un.sun_path);
}

/*
 * An answer has the daemon's user beside it for who asks: it goes to nobody to whom the program has
 * merely connected. The daemon hangs up.
 */
static void test_answer_to_others(void **state)
{
	struct uhca_ucma_request r = {.magic = UHCA_UCMA_MAGIC, .cmd = UHCA_UCMA_HELLO};
	struct ucma_client other;
	int listening, fd[2], service;
	char byte;

	(void)state;
	ucma_client_open(&other, &t.d);
	open_service(&listening, &fd[0]);
	service = accept(listening, NULL, NULL);
	assert_true(service >= 0);
	fd[1] = other.sock;
	assert_int_equal(io_message_send(other.sock, &r, sizeof(r), fd, 2), 0);
	ucma_client_settle(&t.d);
	assert_int_equal(recv(service, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(recv(other.sock, &byte, 1, MSG_DONTWAIT), 0);
	close(service);
	close(listening);
	close(fd[0]);
	ucma_client_close(&other);
}

/* What is no request is not answered: the daemon hangs up, and the ids go. */
static void test_no_requests(void **state)
{
	struct uhca_ucma_request good = {
		.magic = UHCA_UCMA_MAGIC, .cmd = RDMA_USER_CM_CMD_GET_EVENT, .length = 8};
	struct {
		struct uhca_ucma_request h;
		uint8_t more[8];
	} msg[6];
	static const size_t len[6] = {24, 24, 24, 15, 24, 24};
	static const unsigned n_fds[6] = {1, 1, 1, 1, 0, 1};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		memset(&msg[i], 0, sizeof(msg[i]));
		msg[i].h = good;
	}
	msg[0].h.magic++;
	msg[1].h.length = 9;
	msg[2].h.length = 7;
	msg[5].h.option = 9;
	for (unsigned i = 0; i < 6; i++) {
		struct ucma_client bad;

		ucma_client_open(&bad, &t.d);
		create(&bad, RDMA_PS_TCP, 1);
		assert_int_equal(ucma_client_send(&bad, &msg[i], len[i], n_fds[i]), -ECONNRESET);
		assert_int_equal(t.d.ucma.n_files, 1);
		close(bad.sock);
	}
}

static void test_wrong_states(void **state)
{
	uint32_t id = create(&c, RDMA_PS_TCP, 1);
	struct rdma_ucm_connect connect = {.id = id, .conn_param = {.valid = 1}};
	struct rdma_ucm_accept accept = {.id = id, .conn_param = {.valid = 1}};
	struct rdma_ucm_disconnect disconnect = {.id = id};
	struct rdma_ucm_init_qp_attr attr = {.id = id, .qp_state = 1};
	struct rdma_ucm_query query = {.id = id, .option = 77};
	struct rdma_ucm_reject reject = {.id = id};
	struct rdma_ucm_notify notify = {.id = id, .event = 4};
	struct rdma_ucm_resolve_route route = {.id = id};
	struct rdma_ucm_set_option option = {.id = id, .level = 9};

	(void)state;
#define REFUSED(cmd, in, error)                                                                    \
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1),      \
			 -(error))
	REFUSED(CONNECT, connect, EINVAL);
	REFUSED(ACCEPT, accept, EINVAL);
	REFUSED(DISCONNECT, disconnect, EINVAL);
	REFUSED(INIT_QP_ATTR, attr, EINVAL);
	REFUSED(QUERY, query, ENOSYS);
	REFUSED(REJECT, reject, EINVAL);
	REFUSED(NOTIFY, notify, EINVAL);
	REFUSED(RESOLVE_ROUTE, route, EINVAL);
	REFUSED(SET_OPTION, option, ENOSYS);
}

/* One that listens on a device (Linux 6.1): no QP is for it, and there is nothing to disconnect. */
static void test_listener(void **state)
{
	uint32_t id = create(&c, RDMA_PS_TCP, 1), udp = create(&c, RDMA_PS_UDP, 2);
	struct rdma_ucm_disconnect disconnect = {.id = id};
	struct rdma_ucm_init_qp_attr attr = {.id = id, .qp_state = 1};
	struct rdma_ucm_listen in = {.id = id, .backlog = 1};

	(void)state;
	assert_int_equal(bind_id(id, address(0, PORT)), 0);
	assert_int_equal(bind_id(udp, address(0, PORT)), 0);
	REFUSED(INIT_QP_ATTR, attr, 0);
	REFUSED(LISTEN, in, 0);
	REFUSED(INIT_QP_ATTR, attr, EINVAL);
	REFUSED(DISCONNECT, disconnect, 0);
	in.id = attr.id = udp;
	REFUSED(LISTEN, in, 0);
	REFUSED(INIT_QP_ATTR, attr, 0);
}
#undef REFUSED

/* The port space of IP over InfiniBand is none of Ethernet (Linux 6.1). */
static void test_ipoib(void **state)
{
	uint32_t id = create(&c, RDMA_PS_IPOIB, 1);
	struct sockaddr_in6 any = address(0, PORT);
	struct rdma_ucm_resolve_ip in = {.id = id, .dst_addr = address(1, PORT)};

	(void)state;
	assert_int_equal(bind_id(id, address(0, PORT)), -EINVAL);
	((struct sockaddr_in *)(void *)&any)->sin_addr.s_addr = 0;
	assert_int_equal(bind_id(id, any), 0);
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_RESOLVE_IP, &in, sizeof(in), -1), 0);
	assert_int_equal((int)ucma_client_expect(&c, 1 /* ADDR_ERROR */, 1).status, -EINVAL);
}

static void test_ports(void **state)
{
	struct sockaddr_in6 nobody = address(0, PORT);
	uint32_t a = create(&c, RDMA_PS_TCP, 1);
	uint32_t b = create(&c, RDMA_PS_TCP, 2);
	uint32_t udp = create(&c, RDMA_PS_UDP, 3);

	(void)state;
	((struct sockaddr_in *)(void *)&nobody)->sin_addr.s_addr = htonl(0xc6336401);
	assert_int_equal(bind_id(a, nobody), -EADDRNOTAVAIL);
	((struct sockaddr_in *)(void *)&nobody)->sin_addr.s_addr = htonl(0xe0000005);
	assert_int_equal(bind_id(a, nobody), -EADDRNOTAVAIL);
	/* this host's, and no device's */
	((struct sockaddr_in *)(void *)&nobody)->sin_addr.s_addr = htonl(0x7f630907);
	assert_int_equal(bind_id(a, nobody), -ENODEV);
	nobody.sin6_family = AF_UNIX;
	assert_int_equal(bind_id(a, nobody), -EINVAL);
	assert_int_equal(bind_id(a, address(0, PORT)), 0);
	assert_int_equal(bind_id(a, address(0, PORT)), -EINVAL); /* it has one */
	assert_int_equal(bind_id(b, address(0, PORT)), -EADDRINUSE);
	assert_int_equal(bind_id(udp, address(0, PORT)), 0); /* another port space */
	assert_int_equal(bind_id(b, address(1, PORT)), 0);   /* another address */
}

/* 127.0.0.1, which no device of this daemon has, is all of them: the port is taken at each. */
static void test_localhost(void **state)
{
	struct sockaddr_in6 localhost = address(0, PORT);
	uint32_t a = create(&c, RDMA_PS_TCP, 1);
	uint32_t b = create(&c, RDMA_PS_TCP, 2);
	struct rdma_ucm_query query = {.id = a};
	struct rdma_ucm_query_route_resp resp;

	(void)state;
	((struct sockaddr_in *)(void *)&localhost)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind_id(a, localhost), 0);
	assert_int_equal(bind_id(b, address(0, PORT)), -EADDRNOTAVAIL);
	assert_int_equal(bind_id(b, address(1, PORT)), -EADDRNOTAVAIL);
	assert_int_equal(bind_id(b, address(1, PORT + 1)), 0);
	assert_int_equal(
		ucma_client_call(&c, RDMA_USER_CM_CMD_QUERY_ROUTE, &query, sizeof(query), -1), 0);
	memcpy(&resp, c.reply.response, sizeof(resp));
	assert_int_equal(resp.node_guid, 0); /* no device yet */
	assert_memory_equal(&resp.src_addr, &localhost, sizeof(struct sockaddr_in));
}

static void expect_event(uint32_t event, uint64_t uid, struct rdma_ucm_event_resp *e)
{
	*e = ucma_client_expect(&c, event, uid);
}

/* RoCE's port of 127.0.0.1 is in use: by this socket, or by whoever of the host was faster. */
static int hold_localhost(const struct sockaddr_in6 *localhost)
{
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(&a, localhost, sizeof(a));
	a.sin_port = htons(4791);
	assert_true(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 || errno == EADDRINUSE);
	return fd;
}

static void expect_peer(uint32_t id, const void *ip)
{
	struct rdma_ucm_query query = {.id = id};
	struct rdma_ucm_query_route_resp resp;

	assert_int_equal(
		ucma_client_call(&c, RDMA_USER_CM_CMD_QUERY_ROUTE, &query, sizeof(query), -1), 0);
	memcpy(&resp, c.reply.response, sizeof(resp));
	assert_memory_equal(resp.ib_route[0].dgid + 12, ip, 4);
	assert_memory_equal((uint8_t *)&resp.dst_addr + 4, "\x7f\0\0\1", 4);
}

/*
 * Another daemon of the host has 127.0.0.1: it is meant until an id of this one listens there,
 * which may be after the address was resolved. What the id calls it does not change.
 */
static void test_localhost_peer(void **state)
{
	struct sockaddr_in6 localhost = address(0, PORT);
	uint32_t server = create(&c, RDMA_PS_TCP, 1);
	uint32_t client = create(&c, RDMA_PS_TCP, 2);
	struct rdma_ucm_listen listen = {.id = server, .backlog = 1};
	struct rdma_ucm_resolve_ip resolve = {.id = client};
	struct rdma_ucm_resolve_route route = {.id = client};
	struct rdma_ucm_connect connect = {.id = client, .conn_param = {.valid = 1}};
	struct rdma_ucm_event_resp e;
	int held;

	(void)state;
	((struct sockaddr_in *)(void *)&localhost)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	held = hold_localhost(&localhost);
	resolve.dst_addr = localhost;
#define GOOD(cmd, in)                                                                              \
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1), 0)
	GOOD(RESOLVE_IP, resolve);
	expect_event(0, 2, &e);
	expect_peer(client, "\x7f\0\0\1");
	GOOD(RESOLVE_ROUTE, route);
	expect_event(2, 2, &e);
	assert_int_equal(bind_id(server, localhost), 0);
	GOOD(LISTEN, listen);
	GOOD(CONNECT, connect);
	expect_event(4, 1, &e);
	expect_peer(client, t.d.ports[0].dev.id.addresses.a[0].gid + 12);
#undef GOOD
	close(held);
}

static void set_ack_timeout(uint32_t id, uint8_t code)
{
	assert_int_equal(
		ucma_client_option(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &code, 1),
		0);
}

static uint8_t ack_timeout(uint32_t id)
{
	struct rdma_ucm_init_qp_attr in = {.id = id, .qp_state = IBV_QPS_RTS};
	struct ib_uverbs_qp_attr attr;

	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_INIT_QP_ATTR, &in, sizeof(in), -1),
			 0);
	memcpy(&attr, c.reply.response, sizeof(attr));
	assert_true(attr.qp_attr_mask & IBV_QP_TIMEOUT);
	return attr.timeout;
}

/* That of the REQ, unless the program of this end says. */
static void check_ack_timeout(uint32_t id)
{
	assert_int_equal(ack_timeout(id), 9);
	set_ack_timeout(id, 12);
	assert_int_equal(ack_timeout(id), 12);
}

/* A connection with ECE fields; the events of each id are counted. */
static void test_session(void **state)
{
	uint32_t server = create(&c, RDMA_PS_TCP, 1);
	uint32_t client = create(&c, RDMA_PS_TCP, 2);
	struct rdma_ucm_listen listen = {.id = server, .backlog = 1};
	struct rdma_ucm_resolve_ip resolve = {.id = client, .dst_addr = address(0, PORT)};
	struct rdma_ucm_resolve_route route = {.id = client};
	struct rdma_ucm_connect connect = {
		.id = client, .conn_param = {.valid = 1, .qp_num = 5}, .ece = {0xabcdef, 7}};
	struct rdma_ucm_accept accept = {
		.uid = 3, .conn_param = {.valid = 1, .qp_num = 6}, .ece = {0x123456, 8}};
	struct rdma_ucm_destroy_id destroy = {.id = client};
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_event_resp e;

	(void)state;
#define GOOD(cmd, in)                                                                              \
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1), 0)
	assert_int_equal(bind_id(server, address(0, PORT)), 0);
	GOOD(LISTEN, listen);
	GOOD(RESOLVE_IP, resolve);
	expect_event(0, 2, &e);
	GOOD(RESOLVE_ROUTE, route);
	expect_event(2, 2, &e);
	set_ack_timeout(client, 9);
	GOOD(CONNECT, connect);
	expect_event(4, 1, &e);
	check_ack_timeout(e.id);
	assert_int_equal(e.ece.vendor_id, 0xabcdef);
	assert_int_equal(e.ece.attr_mod, 7);
	accept.id = e.id;
	GOOD(ACCEPT, accept);
	expect_event(5, 2, &e);
	assert_int_equal(e.ece.vendor_id, 0x123456);
	assert_int_equal(e.ece.attr_mod, 8);
	GOOD(DESTROY_ID, destroy);
	memcpy(&resp, c.reply.response, sizeof(resp));
	assert_int_equal(resp.events_reported, 3);
	expect_event(8, 3, &e); /* refused by its end */
#undef GOOD
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unknown_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answer_to_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hello, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_states, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listener, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ipoib, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ports, setup, teardown),
		cmocka_unit_test_setup_teardown(test_localhost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_localhost_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_session, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
