/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Life of rdma_cm ids: their numbers, what becomes of requests that wait for a listener which goes
 * or moves, and ids that are addressed as AF_IB does it.
 */
#include "emu/io/base/log.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#define PORT 7471

enum {
	ADDR_RESOLVED,
	ADDR_ERROR,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	REJECTED = 8,
	ESTABLISHED = 9
};

static struct io_test_daemon t;
static struct ucma_client c;

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 2);
	s.addresses[1].count = 2; /* the second device has two */
	s.addresses[1].a[1] = io_test_address(9);
	io_test_daemon_start(&t, &s);
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&c);
	for (uint32_t i = 0; i < t.d.ucma.numbers.used_once; i++)
		assert_null(t.d.ucma.numbers.slot[i]);
	io_test_daemon_stop(&t);
	io_log_close();
	return 0;
}

#define CALL(cmd, in) ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1)
#define GOOD(cmd, in) assert_int_equal(CALL(cmd, in), 0)

static int destroy(uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	return CALL(DESTROY_ID, in);
}

/* ---- numbers ---- */

/* The smallest that is free, as the kernel's: librdmacm has a table by them. */
static void test_numbers(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(ucma_client_create(&c, RDMA_PS_TCP, i), i);
	assert_int_equal(destroy(150), 0);
	assert_int_equal(destroy(7), 0);
	assert_int_equal(destroy(70), 0);
	assert_int_equal(destroy(70), -ENOENT);
	assert_int_equal(ucma_client_create(&c, RDMA_PS_TCP, 1), 7);
	assert_int_equal(ucma_client_create(&c, RDMA_PS_TCP, 1), 70);
	assert_int_equal(ucma_client_create(&c, RDMA_PS_TCP, 1), 150);
	assert_int_equal(ucma_client_create(&c, RDMA_PS_TCP, 1), 200);
}

/* A path that the program made itself is as good as one that was asked for. */
static void test_own_path(void **state)
{
	struct rdma_ucm_resolve_ip resolve = {.dst_addr = ucma_client_address(&t.d, 0, PORT)};
	struct ib_path_rec_data path[2] = {{.flags = 0}};
	struct rdma_ucm_query query = {.option = RDMA_USER_CM_QUERY_PATH};
	struct rdma_ucm_query_path_resp resp;
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 1);

	(void)state;
#define SET_PATH(len) ucma_client_option(&c, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, len)
	assert_int_equal(SET_PATH(sizeof(path[0])), -EINVAL); /* it has no address yet */
	resolve.id = query.id = id;
	GOOD(RESOLVE_IP, resolve);
	ucma_client_expect(&c, ADDR_RESOLVED, 1);
	assert_int_equal(SET_PATH(0), -EINVAL);
	assert_int_equal(SET_PATH(sizeof(path[0])), -EINVAL); /* none for both directions */
	path[1].flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	assert_int_equal(SET_PATH(sizeof(path[0])), -EINVAL);
	assert_int_equal(SET_PATH(sizeof(path) - 1), -EINVAL);
	assert_int_equal(SET_PATH(sizeof(path)), 0);
	assert_int_equal(ucma_client_expect(&c, ROUTE_RESOLVED, 1).status, 0);
	GOOD(QUERY, query);
	memcpy(&resp, c.reply.response, sizeof(resp));
	assert_int_equal(resp.num_paths, 1);
	assert_int_equal(SET_PATH(sizeof(path)), -EINVAL); /* it has one */
#undef SET_PATH
}

/* ---- requests that wait ---- */

static uint32_t listener(uint16_t ps)
{
	uint32_t id = ucma_client_create(&c, ps, 1);
	struct rdma_ucm_bind_ip in = {.addr = ucma_client_address(&t.d, 0, PORT), .id = id};
	struct rdma_ucm_listen listen = {.id = id, .backlog = 4};

	GOOD(BIND_IP, in);
	GOOD(LISTEN, listen);
	return id;
}

static void resolve(uint32_t id, uint64_t uid, const struct sockaddr_in6 *from)
{
	struct rdma_ucm_resolve_ip in = {.id = id, .dst_addr = ucma_client_address(&t.d, 0, PORT)};
	struct rdma_ucm_resolve_route route = {.id = id};

	if (from)
		in.src_addr = *from;
	GOOD(RESOLVE_IP, in);
	ucma_client_expect(&c, ADDR_RESOLVED, uid);
	GOOD(RESOLVE_ROUTE, route);
	ucma_client_expect(&c, ROUTE_RESOLVED, uid);
}

static uint32_t caller(uint16_t ps, uint64_t uid, const struct sockaddr_in6 *from)
{
	uint32_t id = ucma_client_create(&c, ps, uid);
	struct rdma_ucm_connect connect = {
		.id = id,
		.conn_param = {
			.valid = 1, .qp_num = 5, .private_data = "abcd", .private_data_len = 4}};

	resolve(id, uid, from);
	GOOD(CONNECT, connect);
	return id;
}

/* A listener ends with requests that nobody took: who called is told; other ids' events stay. */
static void test_listener_goes(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), other = ucma_client_create(&c, RDMA_PS_TCP, 7);
	struct rdma_ucm_resolve_ip in = {.id = other,
					 .dst_addr = ucma_client_address(&t.d, 1, PORT)};

	(void)state;
	caller(RDMA_PS_TCP, 2, NULL);
	ucma_client_settle(&t.d); /* the requests are there, and not taken */
	GOOD(RESOLVE_IP, in);
	ucma_client_settle(&t.d);
	assert_int_equal(destroy(server), 0);
	ucma_client_expect(&c, ADDR_RESOLVED, 7);
	ucma_client_expect(&c, REJECTED, 2);
}

/* A listener goes to another open of the device with the request, which is accepted there. */
static void test_listener_moves(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), id = caller(RDMA_PS_TCP, 2, NULL);
	struct rdma_ucm_migrate_id move = {.id = server};
	struct rdma_ucm_accept accept = {.uid = 3, .conn_param = {.valid = 1, .qp_num = 6}};
	struct rdma_ucm_accept ready = {.id = id};
	struct ucma_client to;
	struct rdma_ucm_event_resp e;

	(void)state;
	ucma_client_settle(&t.d);
	ucma_client_open(&to, &t.d);
	assert_int_equal(
		ucma_client_call(&to, RDMA_USER_CM_CMD_MIGRATE_ID, &move, sizeof(move), c.sock), 0);
	assert_int_equal(to.reply.h.flags, UHCA_UCMA_TAKE_TOKEN); /* from where nothing is left */
	e = ucma_client_expect(&to, CONNECT_REQUEST, 1);
	accept.id = e.id;
	assert_int_equal(CALL(ACCEPT, accept), -ENOENT);
	assert_int_equal(
		ucma_client_call(&to, RDMA_USER_CM_CMD_ACCEPT, &accept, sizeof(accept), -1), 0);
	ucma_client_expect(&c, 5, 2); /* CONNECT_RESPONSE */
	GOOD(ACCEPT, ready);
	ucma_client_expect(&to, ESTABLISHED, 3);
	ucma_client_close(&to);
}

/* What a program may say to a peer has an end, which is that of the message without our header. */
static void test_private_data(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 2), server = listener(RDMA_PS_TCP);
	struct rdma_ucm_connect connect = {.id = id,
					   .conn_param = {.valid = 1, .private_data_len = 57}};
	struct rdma_ucm_event_resp e;

	(void)state;
	assert_int_not_equal(id, server);
	memset(connect.conn_param.private_data, 0x5a, 57);
	resolve(id, 2, NULL);
	assert_int_equal(CALL(CONNECT, connect), -EINVAL);
	connect.conn_param.private_data_len = 56;
	GOOD(CONNECT, connect);
	e = ucma_client_expect(&c, CONNECT_REQUEST, 1);
	assert_int_equal(e.param.conn.private_data_len, 56);
	assert_memory_equal(e.param.conn.private_data, connect.conn_param.private_data, 56);
	assert_int_equal(CALL(CONNECT, connect), -EINVAL); /* it does already */
}

/* The passive end has heard of the connection by a message, before the last word of the other. */
static void test_notify(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), id = caller(RDMA_PS_TCP, 2, NULL);
	struct rdma_ucm_event_resp e = ucma_client_expect(&c, CONNECT_REQUEST, 1);
	struct rdma_ucm_accept accept = {
		.uid = 3, .id = e.id, .conn_param = {.valid = 1, .qp_num = 6}};
	struct rdma_ucm_notify notify = {.id = e.id, .event = 5};

	(void)state;
	assert_int_not_equal(id, server);
	GOOD(ACCEPT, accept);
	ucma_client_expect(&c, 5, 2); /* CONNECT_RESPONSE */
	assert_int_equal(CALL(NOTIFY, notify), -EINVAL);
	notify.event = 4; /* COMM_EST */
	GOOD(NOTIFY, notify);
	ucma_client_expect(&c, ESTABLISHED, 3);
}

/* A call that fails changes no name. */
static void test_accept_in_vain(void **state)
{
	uint32_t id = caller(RDMA_PS_TCP, 2, NULL);
	struct rdma_ucm_accept accept = {.uid = 77, .id = id, .conn_param = {.valid = 1}};

	(void)state;
	assert_true(CALL(ACCEPT, accept) < 0);
	ucma_client_expect(&c, REJECTED, 2); /* nobody listens */
}

/* Who took the token and takes no event gives it back, for who comes next. */
static void test_token(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 1);
	struct rdma_ucm_resolve_ip in = {.id = id, .dst_addr = ucma_client_address(&t.d, 0, PORT)};
	char token;

	(void)state;
	assert_int_equal(recv(c.sock, &token, 1, MSG_DONTWAIT), -1);
	GOOD(RESOLVE_IP, in);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(recv(c.sock, &token, 1, MSG_DONTWAIT), 1);
		assert_int_equal(recv(c.sock, &token, 1, MSG_DONTWAIT), -1);
		assert_int_equal(ucma_client_call(&c, UHCA_UCMA_TOKEN, NULL, 0, -1), 0);
	}
	ucma_client_expect(&c, ADDR_RESOLVED, 1);
	assert_int_equal(ucma_client_call(&c, UHCA_UCMA_TOKEN, NULL, 0, -1), 0);
	assert_int_equal(recv(c.sock, &token, 1, MSG_DONTWAIT), -1);
}

/* Of no device: whether this host has a way to there is the host's matter. */
static void expect_no_way(struct rdma_ucm_resolve_ip *in, uint64_t uid)
{
	int fd = socket(in->dst_addr.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool routed = connect(fd, (struct sockaddr *)&in->dst_addr, sizeof(in->dst_addr)) == 0 ||
		      errno != ENETUNREACH;

	close(fd);
	if (!routed) {
		assert_int_equal(CALL(RESOLVE_IP, *in), -ENETUNREACH);
		return;
	}
	GOOD(RESOLVE_IP, *in);
	assert_int_equal((int)ucma_client_expect(&c, ADDR_ERROR, uid).status, -ENODEV);
}

/* What an address leads to, or does not. */
static void test_resolve(void **state)
{
	uint32_t id[4], holder = ucma_client_create(&c, RDMA_PS_TCP, 1);
	struct rdma_ucm_bind_ip bind = {.addr = ucma_client_address(&t.d, 0, PORT), .id = holder};
	struct rdma_ucm_resolve_ip in = {.dst_addr = ucma_client_address(&t.d, 1, PORT)};
	struct rdma_ucm_query query = {.option = 0};
	struct rdma_ucm_query_route_resp r;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		id[i] = ucma_client_create(&c, RDMA_PS_TCP, 10 + i);
	GOOD(BIND_IP, bind);
	in.id = id[0];
	in.src_addr = bind.addr;
	assert_int_equal(CALL(RESOLVE_IP, in), -EADDRINUSE);
	query.id = id[0]; /* which has no destination now */
	GOOD(QUERY_ROUTE, query);
	memcpy(&r, c.reply.response, sizeof(r));
	assert_int_equal(r.dst_addr.sin6_family, 0);
	assert_int_equal(r.dst_addr.sin6_port, 0);
	in.src_addr.sin6_family = AF_UNIX;
	assert_int_equal(CALL(RESOLVE_IP, in), -EINVAL);
	in.src_addr.sin6_family = 0;
	in.dst_addr.sin6_family = AF_UNIX;
	assert_int_equal(CALL(RESOLVE_IP, in), -EINVAL);
	/* no address at all is the device itself */
	in.dst_addr = ucma_client_address(&t.d, 1, PORT);
	memset((uint8_t *)&in.dst_addr + 4, 0, 4);
	GOOD(RESOLVE_IP, in);
	ucma_client_expect(&c, ADDR_RESOLVED, 10);
	query.id = id[0];
	GOOD(QUERY_ROUTE, query);
	memcpy(&r, c.reply.response, sizeof(r));
	assert_memory_equal(r.ib_route[0].dgid, r.ib_route[0].sgid, 16);
	assert_memory_equal(r.ib_route[0].sgid, t.d.ports[0].dev.id.addresses.a[0].gid, 16);
	/* of a family in which no device has an address */
	in.id = id[1];
	in.dst_addr = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	memcpy(&in.dst_addr.sin6_addr, "\x20\x01\x0d\xb8", 4);
	expect_no_way(&in, 11);
	/* where no loopback address reaches, which is all that the devices have */
	in.id = id[2];
	in.dst_addr = ucma_client_address(&t.d, 1, PORT);
	memcpy((uint8_t *)&in.dst_addr + 4, "\xc0\x00\x02\x07", 4);
	expect_no_way(&in, 12);
	/* it may try another address, and another device of this host */
	in.dst_addr = ucma_client_address(&t.d, 1, PORT);
	GOOD(RESOLVE_IP, in);
	ucma_client_expect(&c, ADDR_RESOLVED, 12);
}

/* ---- more than one address ---- */

static struct sockaddr_in6 second_address(void)
{
	struct sockaddr_in6 out = ucma_client_address(&t.d, 1, 0);

	memcpy((uint8_t *)&out + 4, io_test_address(9).gid + 12, 4);
	return out;
}

/* Who called from its second address sends from there, and joins groups there. */
static void test_second_address(void **state)
{
	const struct sockaddr_in6 from = second_address();
	uint32_t server = listener(RDMA_PS_UDP), id = caller(RDMA_PS_UDP, 2, &from);
	struct rdma_ucm_event_resp e = ucma_client_expect(&c, CONNECT_REQUEST, 1);
	struct rdma_ucm_accept accept = {
		.uid = 3, .id = e.id, .conn_param = {.valid = 1, .qp_num = 6}};
	struct rdma_ucm_join_ip_mcast join = {.uid = 8, .id = id, .addr = from};

	(void)state;
	assert_int_not_equal(server, id);
	assert_memory_equal(e.param.ud.ah_attr.grh.dgid, io_test_address(9).gid, 16);
	assert_int_equal(e.param.ud.ah_attr.grh.sgid_index, 0); /* of the first device */
	assert_int_equal(e.param.ud.ah_attr.grh.flow_label, 0);
	GOOD(ACCEPT, accept);
	e = ucma_client_expect(&c, ESTABLISHED, 2);
	assert_int_equal(e.param.ud.ah_attr.grh.sgid_index, 1);
	memcpy((uint8_t *)&join.addr + 4, (uint8_t[]){239, 1, 2, 3}, 4);
	GOOD(JOIN_IP_MCAST, join);
	e = ucma_client_expect(&c, 12, 8); /* MULTICAST_JOIN */
	assert_int_equal(e.param.ud.ah_attr.grh.sgid_index, 1);
}

/* ---- addresses with their length ---- */

struct ib_sockaddr {
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};

static struct ib_sockaddr ib_address(unsigned device, uint64_t sid)
{
	struct ib_sockaddr out = {
		.family = AF_IB, .sid = htobe64(sid), .sid_mask = htobe64(UINT64_MAX)};

	memcpy(out.addr, t.d.ports[device].dev.id.addresses.a[0].gid, 16);
	return out;
}

/* No IP header stands in front of what the program says; the service is the whole number. */
static void test_af_ib(void **state)
{
	const uint64_t sid = (uint64_t)RDMA_PS_TCP << 16 | PORT;
	const struct ib_sockaddr at = ib_address(0, sid), from = ib_address(1, sid - PORT);
	uint32_t server = ucma_client_create(&c, RDMA_PS_TCP, 1);
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 2);
	struct rdma_ucm_bind bind = {.id = server, .addr_size = sizeof(at)};
	struct rdma_ucm_listen listen = {.id = server, .backlog = 1};
	struct rdma_ucm_resolve_addr resolve = {
		.id = id, .src_size = sizeof(from), .dst_size = sizeof(at)};
	struct rdma_ucm_resolve_route route = {.id = id};
	struct rdma_ucm_connect connect = {
		.id = id,
		.conn_param = {
			.valid = 1, .qp_num = 5, .private_data = "abcd", .private_data_len = 4}};
	struct rdma_ucm_query query = {.option = RDMA_USER_CM_QUERY_ADDR};
	struct rdma_ucm_query_addr_resp r;
	struct rdma_ucm_event_resp e;
	struct ib_sockaddr a;

	(void)state;
	memcpy(&bind.addr, &at, sizeof(at));
	memcpy(&resolve.src_addr, &from, sizeof(from));
	memcpy(&resolve.dst_addr, &at, sizeof(at));
	GOOD(BIND, bind);
	GOOD(LISTEN, listen);
	GOOD(RESOLVE_ADDR, resolve);
	ucma_client_expect(&c, ADDR_RESOLVED, 2);
	GOOD(RESOLVE_ROUTE, route);
	ucma_client_expect(&c, ROUTE_RESOLVED, 2);
	GOOD(CONNECT, connect);
	e = ucma_client_expect(&c, CONNECT_REQUEST, 1);
	assert_memory_equal(e.param.conn.private_data, "abcd\0\0", 6);
	query.id = e.id;
	GOOD(QUERY, query);
	memcpy(&r, c.reply.response, sizeof(r));
	assert_int_equal(r.src_size, sizeof(a));
	assert_int_equal(r.dst_size, sizeof(a));
	memcpy(&a, &r.src_addr, sizeof(a));
	assert_int_equal(a.family, AF_IB);
	assert_int_equal(be64toh(a.sid), sid);
	assert_memory_equal(a.addr, at.addr, 16);
	memcpy(&a, &r.dst_addr, sizeof(a));
	assert_memory_equal(a.addr, from.addr, 16);
}

/* A service whose number may be any: the port that was chosen stands in it. */
static void test_af_ib_any_port(void **state)
{
	struct ib_sockaddr at = ib_address(0, (uint64_t)RDMA_PS_TCP << 16), a;
	struct rdma_ucm_bind bind = {.addr_size = sizeof(at)};
	struct rdma_ucm_query query = {.option = RDMA_USER_CM_QUERY_ADDR};
	struct rdma_ucm_query_addr_resp r;

	(void)state;
	at.sid_mask = htobe64(0xffff);
	bind.id = query.id = ucma_client_create(&c, RDMA_PS_TCP, 1);
	memcpy(&bind.addr, &at, sizeof(at));
	GOOD(BIND, bind);
	GOOD(QUERY, query);
	memcpy(&r, c.reply.response, sizeof(r));
	memcpy(&a, &r.src_addr, sizeof(a));
	assert_int_equal(be64toh(a.sid) >> 16, RDMA_PS_TCP);
	assert_in_range(be64toh(a.sid) & 0xffff, 32768, 60999);
}

/* An address that is longer than its place, or shorter than its family's, is none. */
static void test_lengths(void **state)
{
	const struct sockaddr_in6 at = ucma_client_address(&t.d, 0, PORT);
	const uint16_t v4 = sizeof(struct sockaddr_in), room = sizeof(struct sockaddr_storage);
	uint32_t id = ucma_client_create(&c, RDMA_PS_UDP, 1);
	struct rdma_ucm_bind bind = {.id = id, .addr_size = v4};
	struct rdma_ucm_resolve_addr resolve = {.id = id, .dst_size = v4};
	struct rdma_ucm_join_mcast join = {.id = id, .uid = 8, .addr_size = v4};

	(void)state;
	memcpy(&bind.addr, &at, sizeof(at));
	memcpy(&resolve.dst_addr, &at, sizeof(at));
	memcpy(&join.addr, &at, sizeof(at));
	memcpy((uint8_t *)&join.addr + 4, (uint8_t[]){239, 1, 2, 3}, 4);
	bind.addr_size = room + 1;
	assert_int_equal(CALL(BIND, bind), -EINVAL);
	bind.addr_size = v4 - 1;
	assert_int_equal(CALL(BIND, bind), -EINVAL);
	resolve.dst_size = room + 1;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.dst_size = v4 - 1;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.dst_size = v4;
	resolve.src_size = room + 1;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.src_size = v4 - 1;
	resolve.src_addr.ss_family = AF_INET;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.src_size = 0;
	resolve.reserved = 1;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.reserved = 0;
	assert_int_equal(CALL(JOIN_MCAST, join), -EINVAL); /* of no device yet */
	resolve.dst_size = room;
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	resolve.dst_size = v4;
	GOOD(RESOLVE_ADDR, resolve);
	ucma_client_expect(&c, ADDR_RESOLVED, 1);
	assert_int_equal(CALL(BIND, bind), -EINVAL);
	assert_int_equal(CALL(RESOLVE_ADDR, resolve), -EINVAL);
	join.addr_size = room + 1;
	assert_int_equal(CALL(JOIN_MCAST, join), -EINVAL);
	join.addr_size = v4;
	join.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	assert_int_equal(CALL(JOIN_MCAST, join), -EINVAL);
	join.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	GOOD(JOIN_MCAST, join);
	ucma_client_expect(&c, 12, 8);
	join.addr_size = room;
	GOOD(JOIN_MCAST, join);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_numbers), TEST(test_own_path),       TEST(test_listener_goes),
		TEST(test_lengths), TEST(test_listener_moves), TEST(test_second_address),
		TEST(test_af_ib),   TEST(test_af_ib_any_port), TEST(test_private_data),
		TEST(test_notify),  TEST(test_accept_in_vain), TEST(test_token),
		TEST(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
