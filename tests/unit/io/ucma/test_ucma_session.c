/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of the rdma_cm device in detail: what an id answers to each query before and after it
 * has a route, what both ends are told of each other, multicast groups, ids that move to another
 * open of the device.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#define PORT 7471
#define TOS  0x28
#define LEFT 1 /* the device of who calls */

enum event {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5,
	UNREACHABLE = 7,
	REJECTED = 8,
	ESTABLISHED = 9,
	DISCONNECTED = 10,
	MULTICAST_JOIN = 12,
};

static struct io_test_daemon t;
static struct ucma_client c;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&c);
	for (uint32_t i = 0; i < t.d.ucma.numbers.used_once; i++)
		assert_null(t.d.ucma.numbers.slot[i]);
	io_test_daemon_end(&t);
	return 0;
}

#define CALL(cmd, in) ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1)
#define GOOD(cmd, in) assert_int_equal(CALL(cmd, in), 0)

static const uint8_t *gid_of(unsigned device)
{
	return t.d.ports[device].dev.id.addresses.a[0].gid;
}

static struct sockaddr_in6 address(unsigned device, uint16_t port)
{
	return ucma_client_address(&t.d, device, port);
}

static uint32_t create(uint16_t ps, uint64_t uid)
{
	return ucma_client_create(&c, ps, uid);
}

static struct rdma_ucm_event_resp event(enum event number, uint64_t uid)
{
	return ucma_client_expect(&c, number, uid);
}

static int set_option(uint32_t id, uint32_t name, const void *value, uint32_t len)
{
	return ucma_client_option(&c, id, RDMA_OPTION_ID, name, value, len);
}

static uint32_t listener(uint16_t ps)
{
	uint32_t id = create(ps, 1);
	struct rdma_ucm_bind_ip in = {.addr = address(0, PORT), .id = id};
	struct rdma_ucm_listen listen = {.id = id, .backlog = 1};

	GOOD(BIND_IP, in);
	GOOD(LISTEN, listen);
	return id;
}

/* An id at the other device with its address resolved, not yet its route. */
static uint32_t caller(uint16_t ps)
{
	uint32_t id = create(ps, 2);
	struct rdma_ucm_resolve_ip in = {
		.id = id, .src_addr = address(LEFT, 0), .dst_addr = address(0, PORT)};
	const uint8_t tos = TOS, timeout = 19, wrong = 32;

	assert_int_equal(set_option(id, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	assert_int_equal(set_option(id, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1),
			 ps == RDMA_PS_TCP ? 0 : -EINVAL); /* datagrams have no ACKs */
	assert_int_equal(set_option(id, RDMA_OPTION_ID_ACK_TIMEOUT, &wrong, 1), -EINVAL);
	assert_int_equal(set_option(id, RDMA_OPTION_ID_TOS, "xx", 2), -EINVAL);
	GOOD(RESOLVE_IP, in);
	event(ADDR_RESOLVED, 2);
	return id;
}

static void resolve_route(uint32_t id)
{
	struct rdma_ucm_resolve_route in = {.id = id};

	GOOD(RESOLVE_ROUTE, in);
	event(ROUTE_RESOLVED, 2);
}

/* ---- queries ---- */

static void query(uint32_t id, uint32_t option, void *out, size_t size)
{
	struct rdma_ucm_query in = {.id = id, .option = option};

	GOOD(QUERY, in);
	assert_true(c.reply.h.length <= size);
	memset(out, 0, size);
	memcpy(out, c.reply.response, c.reply.h.length);
}

static struct rdma_ucm_query_route_resp query_route(uint32_t id)
{
	struct rdma_ucm_query in = {.id = id};
	struct rdma_ucm_query_route_resp resp;

	GOOD(QUERY_ROUTE, in);
	memcpy(&resp, c.reply.response, sizeof(resp));
	return resp;
}

static void check_device(const struct rdma_ucm_query_addr_resp *r)
{
	assert_int_equal(be64toh(r->node_guid), t.d.ports[LEFT].dev.id.guid);
	assert_int_equal(r->port_num, 1);
	assert_int_equal(r->pkey, 0xffff);
	assert_int_equal(r->ibdev_index, UINT32_MAX);
}

static void test_query_addresses(void **state)
{
	uint32_t id = caller(RDMA_PS_TCP);
	struct sockaddr_in6 to = address(0, PORT);
	struct rdma_ucm_query_addr_resp r;

	(void)state;
	query(id, RDMA_USER_CM_QUERY_ADDR, &r, sizeof(r));
	check_device(&r);
	assert_int_equal(r.src_size, sizeof(struct sockaddr_in));
	assert_int_equal(r.dst_size, sizeof(struct sockaddr_in));
	assert_memory_equal((uint8_t *)&r.src_addr + 4, gid_of(LEFT) + 12, 4);
	assert_memory_equal(&r.dst_addr, &to, sizeof(struct sockaddr_in));
	query(id, RDMA_USER_CM_QUERY_GID, &r, sizeof(r));
	check_device(&r);
	assert_int_equal(r.src_size, 48);
	assert_int_equal(r.dst_size, 48);
	assert_int_equal(r.src_addr.ss_family, 27); /* AF_IB */
	assert_memory_equal((uint8_t *)&r.src_addr + 8, gid_of(LEFT), 16);
	assert_memory_equal((uint8_t *)&r.dst_addr + 8, gid_of(0), 16);
	assert_memory_equal((uint8_t *)&r.dst_addr + 24, "\0\0\0\0\1\6\x1d\x2f", 8);
}

/* A path of 64 bytes as on an InfiniBand wire, once there is one. */
static void test_query_path(void **state)
{
	uint32_t id = caller(RDMA_PS_TCP);
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data path;
	} r;
	const uint8_t *p = (const uint8_t *)r.path.path_rec;

	(void)state;
	query(id, RDMA_USER_CM_QUERY_PATH, &r, sizeof(r));
	assert_int_equal(r.head.num_paths, 0);
	assert_int_equal(c.reply.h.length, sizeof(r.head));
	resolve_route(id);
	query(id, RDMA_USER_CM_QUERY_PATH, &r, sizeof(r));
	assert_int_equal(r.head.num_paths, 1);
	assert_int_equal(r.path.flags, IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL);
	assert_memory_equal(p + 8, gid_of(0), 16);
	assert_memory_equal(p + 24, gid_of(LEFT), 16);
	assert_int_equal(p[47], 64);
	assert_int_equal(p[48], TOS);
	assert_int_equal(p[49], 0x81);
	assert_memory_equal(p + 50, "\xff\xff", 2);
	assert_int_equal(p[54], 2 << 6 | t.d.ports[LEFT].dev.config.active_mtu);
	assert_int_equal(p[55], 2 << 6 | 16);
	assert_int_equal(p[56], 2 << 6 | 16);
}

static void test_query_route(void **state)
{
	uint32_t id = caller(RDMA_PS_TCP);
	struct rdma_ucm_query_route_resp r = query_route(id);
	const struct ib_user_path_rec *p = &r.ib_route[0];

	(void)state;
	assert_int_equal(r.num_paths, 0);
	assert_memory_equal(p->dgid, gid_of(0), 16); /* librdmacm asks this early */
	resolve_route(id);
	r = query_route(id);
	assert_int_equal(r.num_paths, 1);
	assert_int_equal(r.port_num, 1);
	assert_int_equal(be64toh(r.node_guid), t.d.ports[LEFT].dev.id.guid);
	assert_memory_equal(p->sgid, gid_of(LEFT), 16);
	assert_memory_equal(p->dgid, gid_of(0), 16);
	assert_int_equal(p->pkey, 0xffff);
	assert_int_equal(p->mtu, t.d.ports[LEFT].dev.config.active_mtu);
	assert_int_equal(p->hop_limit, 64);
	assert_int_equal(p->traffic_class, TOS);
	assert_int_equal(p->reversible, 1);
	assert_int_equal(p->numb_path, 1);
	assert_int_equal(p->rate, 16);
	assert_int_equal(p->packet_life_time, 16);
	assert_int_equal(p->mtu_selector, 2);
	assert_int_equal(p->rate_selector, 2);
	assert_int_equal(p->packet_life_time_selector, 2);
}

/* ---- connections ---- */

static const struct rdma_ucm_conn_param asked = {
	.valid = 1,
	.qp_num = 5,
	.retry_count = 9,
	.rnr_retry_count = 6,
	.flow_control = 1,
	.responder_resources = 3,
	.initiator_depth = 3,
	.private_data = "abcd",
	.private_data_len = 4,
};

static struct ib_uverbs_qp_attr qp_attr(uint32_t id, uint32_t to)
{
	struct rdma_ucm_init_qp_attr in = {.id = id, .qp_state = to};
	struct ib_uverbs_qp_attr out;

	GOOD(INIT_QP_ATTR, in);
	memcpy(&out, c.reply.response, sizeof(out));
	return out;
}

/* Before there is a peer a QP can be brought to INIT, and no further. */
static void test_initial_attr(void **state)
{
	const uint32_t mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	uint32_t id = caller(RDMA_PS_TCP);
	struct rdma_ucm_init_qp_attr in = {.id = id, .qp_state = IBV_QPS_RTR};
	struct ib_uverbs_qp_attr a = qp_attr(id, IBV_QPS_INIT);

	(void)state;
	assert_int_equal(a.qp_attr_mask, mask | IBV_QP_ACCESS_FLAGS);
	assert_int_equal(a.qp_state, IBV_QPS_INIT);
	assert_int_equal(a.port_num, 1);
	assert_int_equal(a.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(a.qkey, 0);
	assert_int_equal(CALL(INIT_QP_ATTR, in), -EINVAL);
	in.id = caller(RDMA_PS_UDP);
	a = qp_attr(in.id, IBV_QPS_INIT);
	assert_int_equal(a.qp_attr_mask, mask | IBV_QP_QKEY);
	assert_int_equal(a.qkey, 0x01234567);
	assert_int_equal(a.qp_access_flags, 0);
	assert_int_equal(CALL(INIT_QP_ATTR, in), -EINVAL);
	in.id = create(RDMA_PS_TCP, 1); /* of no device yet */
	assert_int_equal(CALL(INIT_QP_ATTR, in), -EINVAL);
}

/* The calls up to the request, which the other end is told of. */
static struct rdma_ucm_event_resp request(uint32_t id, const struct rdma_ucm_conn_param *param)
{
	struct rdma_ucm_connect connect = {.id = id, .conn_param = *param};

	resolve_route(id);
	GOOD(CONNECT, connect);
	return event(CONNECT_REQUEST, 1);
}

static void test_connection(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), id = caller(RDMA_PS_TCP);
	struct rdma_ucm_event_resp e = request(id, &asked);
	struct rdma_ucm_accept accept = {.uid = 3, .id = e.id, .conn_param = asked};
	struct rdma_ucm_accept ready = {.id = id};
	struct rdma_ucm_disconnect disconnect = {.id = id};
	struct rdma_ucm_query_route_resp r = query_route(e.id);
	struct ib_uverbs_qp_attr a;

	(void)state;
	assert_int_not_equal(e.id, server);
	assert_int_equal(e.param.conn.qp_num, 5);
	assert_int_equal(e.param.conn.retry_count, 7); /* there is no greater */
	assert_int_equal(e.param.conn.rnr_retry_count, 6);
	assert_int_equal(e.param.conn.flow_control, 1);
	assert_int_equal(e.param.conn.responder_resources, 3);
	assert_int_equal(e.param.conn.initiator_depth, 3);
	assert_true(e.param.conn.private_data_len >= 4);
	assert_memory_equal(e.param.conn.private_data, "abcd\0\0", 6);
	assert_memory_equal((uint8_t *)&r.dst_addr + 4, gid_of(LEFT) + 12, 4);
	assert_int_equal(ntohs(((struct sockaddr_in *)(void *)&r.src_addr)->sin_port), PORT);
	assert_int_not_equal(((struct sockaddr_in *)(void *)&r.dst_addr)->sin_port, 0);
	accept.conn_param.qp_num = 6;
	memcpy(accept.conn_param.private_data, "efgh", 4);
	GOOD(ACCEPT, accept);
	e = event(CONNECT_RESPONSE, 2);
	assert_int_equal(e.param.conn.qp_num, 6);
	assert_memory_equal(e.param.conn.private_data, "efgh", 4);
	a = qp_attr(id, 2); /* RTR */
	assert_int_equal(a.dest_qp_num, 6);
	assert_int_equal(a.qp_state, IBV_QPS_RTR);
	assert_int_equal(a.max_dest_rd_atomic, 3);
	assert_true(a.qp_attr_mask & IBV_QP_RQ_PSN);
	assert_int_equal(a.ah_attr.grh.hop_limit, 64);
	assert_int_equal(a.path_mtu, t.d.ports[LEFT].dev.config.active_mtu);
	assert_memory_equal(a.ah_attr.grh.dgid, gid_of(0), 16);
	assert_int_equal(a.ah_attr.grh.traffic_class, TOS);
	assert_int_equal(a.ah_attr.is_global, 1);
	assert_int_equal(a.ah_attr.port_num, 1);
	a = qp_attr(id, 3); /* RTS */
	assert_int_equal(a.qp_state, IBV_QPS_RTS);
	assert_int_equal(a.max_rd_atomic, 3);
	assert_true(a.qp_attr_mask & IBV_QP_SQ_PSN);
	assert_int_equal(a.timeout, 19);
	assert_int_equal(a.retry_cnt, 7);
	assert_int_equal(a.rnr_retry, 6);
	GOOD(ACCEPT, ready);
	e = event(ESTABLISHED, 3);
	assert_int_equal(e.param.conn.private_data_len, 0); /* Linux 6.1: none of the RTU's */
	GOOD(DISCONNECT, disconnect);
	event(DISCONNECTED, 3);
	assert_int_equal(ucma_client_event(&c, &e), -EAGAIN);
	disconnect.id = accept.id;
	GOOD(DISCONNECT, disconnect); /* the answer */
	event(DISCONNECTED, 2);
}

/* An accept that cannot be refuses (Linux 6.1): there is room for 196 bytes, and for 136. */
static void test_failed_accept(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), udp = listener(RDMA_PS_UDP);
	struct rdma_ucm_event_resp e = request(caller(RDMA_PS_TCP), &asked);
	struct rdma_ucm_accept accept = {
		.uid = 3, .id = e.id, .conn_param = {.valid = 1, .private_data_len = 197}};

	(void)state;
	assert_int_not_equal(server, udp);
	assert_int_equal(CALL(ACCEPT, accept), -EINVAL);
	assert_int_equal(event(REJECTED, 2).status, 28);
	accept.conn_param.private_data_len = 0;
	assert_int_equal(CALL(ACCEPT, accept), -EINVAL);
	accept.id = request(caller(RDMA_PS_UDP), &asked).id;
	accept.conn_param.private_data_len = 137;
	assert_int_equal(CALL(ACCEPT, accept), -EINVAL);
	assert_int_equal(event(UNREACHABLE, 2).status, 2);
}

/* What the QPs of both ends are told fits together: each sends as the other receives. */
static void test_both_ends(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), id = caller(RDMA_PS_TCP);
	struct rdma_ucm_conn_param param = asked;
	struct rdma_ucm_event_resp e;
	struct rdma_ucm_accept accept = {.uid = 3};
	struct ib_uverbs_qp_attr to[2], on[2];

	(void)state;
	assert_int_not_equal(server, id);
	param.srq = 1;
	param.responder_resources = 2;
	param.initiator_depth = 5;
	e = request(id, &param);
	assert_int_equal(e.param.conn.srq, 1);
	assert_int_equal(e.param.conn.responder_resources, 5); /* as its own end sees it */
	assert_int_equal(e.param.conn.initiator_depth, 2);
	accept.id = e.id;
	accept.conn_param = param;
	accept.conn_param.qp_num = 6;
	accept.conn_param.responder_resources = 4;
	accept.conn_param.initiator_depth = 2;
	GOOD(ACCEPT, accept);
	event(CONNECT_RESPONSE, 2);
	to[0] = qp_attr(id, IBV_QPS_RTR);
	on[0] = qp_attr(id, IBV_QPS_RTS);
	to[1] = qp_attr(e.id, IBV_QPS_RTR);
	on[1] = qp_attr(e.id, IBV_QPS_RTS);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(to[i].rq_psn, on[1 - i].sq_psn);
		assert_int_equal(to[i].max_dest_rd_atomic, on[1 - i].max_rd_atomic);
		assert_int_equal(to[i].ah_attr.grh.flow_label, to[1 - i].ah_attr.grh.flow_label);
		assert_int_equal(to[i].path_mtu, to[1 - i].path_mtu);
		assert_int_equal(to[i].dest_qp_num, i ? 5 : 6);
		assert_int_equal(to[i].ah_attr.sl, 0);
		assert_int_equal(to[i].pkey_index, 0);
		assert_memory_equal(to[i].ah_attr.grh.dgid, gid_of(i), 16);
	}
	assert_int_not_equal(on[0].sq_psn | on[1].sq_psn, 0);
	assert_int_equal(on[0].max_rd_atomic, 4);
	assert_int_equal(on[1].max_rd_atomic, 2);
}

static void test_rejection(void **state)
{
	uint32_t server = listener(RDMA_PS_TCP), id = caller(RDMA_PS_TCP);
	struct rdma_ucm_event_resp e = request(id, &asked);
	struct rdma_ucm_reject reject = {
		.id = e.id, .private_data_len = 4, .private_data = "no!", .reason = 77};

	(void)state;
	assert_int_not_equal(server, id);
	assert_int_equal(CALL(REJECT, reject), -EINVAL);
	reject.reason = 0; /* the program's */
	GOOD(REJECT, reject);
	e = event(REJECTED, 2);
	assert_int_equal(e.status, 28);
	assert_memory_equal(e.param.conn.private_data, "no!", 4);
}

/* What a request meets: nobody, who has no room for one more. */
static void test_refusals(void **state)
{
	uint32_t id = caller(RDMA_PS_TCP), second;
	struct rdma_ucm_connect connect = {.id = id, .conn_param = asked};
	struct rdma_ucm_event_resp none;
	uint32_t server;

	(void)state;
	resolve_route(id);
	GOOD(CONNECT, connect);
	assert_int_equal(event(REJECTED, 2).status, 8); /* invalid service ID */
	server = listener(RDMA_PS_TCP);
	connect.id = caller(RDMA_PS_TCP);
	resolve_route(connect.id);
	second = connect.id;
	connect.id = caller(RDMA_PS_TCP);
	resolve_route(connect.id);
	GOOD(CONNECT, connect);
	connect.id = second;
	GOOD(CONNECT, connect);
	event(CONNECT_REQUEST, 1);
	assert_int_equal(ucma_client_event(&c, &none), -EAGAIN); /* dropped: the backlog is 1 */
	core_tick(t.d.ports[LEFT].dev.core, io_clock_now() + 1200 * IO_MSEC);
	event(CONNECT_REQUEST, 1); /* it comes again */
	assert_int_not_equal(server, second);
}

/* Who listens says how the answers are to be marked. */
static void test_listener_tos(void **state)
{
	const uint8_t tos = 0x48;
	uint32_t server = create(RDMA_PS_TCP, 1);
	struct rdma_ucm_bind_ip bind = {.addr = address(0, PORT), .id = server};
	struct rdma_ucm_listen listen = {.id = server, .backlog = 1};
	struct rdma_ucm_event_resp e;

	(void)state;
	assert_int_equal(set_option(server, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	GOOD(BIND_IP, bind);
	GOOD(LISTEN, listen);
	e = request(caller(RDMA_PS_TCP), &asked);
	assert_int_equal(query_route(e.id).ib_route[0].traffic_class, tos);
}

/* A service of datagrams: the answer says where to send. */
static void test_datagrams(void **state)
{
	uint32_t server = listener(RDMA_PS_UDP), id = caller(RDMA_PS_UDP);
	struct rdma_ucm_event_resp e = request(id, &asked);
	struct rdma_ucm_accept accept = {
		.uid = 3, .id = e.id, .conn_param = {.valid = 1, .qp_num = 6, .qkey = 0x1234}};

	(void)state;
	assert_int_not_equal(server, id);
	assert_memory_equal(e.param.ud.private_data, "abcd", 4);
	assert_true(e.param.ud.private_data_len >= 4); /* the message has room for so many */
	memcpy(accept.conn_param.private_data, "efgh", 4);
	accept.conn_param.private_data_len = 4;
	GOOD(ACCEPT, accept);
	e = event(ESTABLISHED, 2);
	assert_int_equal(e.param.ud.qp_num, 6);
	assert_int_equal(e.param.ud.qkey, 0x1234);
	assert_memory_equal(e.param.ud.private_data, "efgh", 4);
	assert_true(e.param.ud.private_data_len >= 4);
	assert_memory_equal(e.param.ud.ah_attr.grh.dgid, gid_of(0), 16);
	assert_int_equal(e.param.ud.ah_attr.grh.sgid_index, 0);
	assert_int_equal(e.param.ud.ah_attr.grh.hop_limit, 64);
	assert_int_equal(e.param.ud.ah_attr.grh.traffic_class, TOS);
	assert_int_equal(e.param.ud.ah_attr.is_global, 1);
	assert_int_equal(e.param.ud.ah_attr.port_num, 1);
}

/* ---- groups ---- */

static struct sockaddr_in6 group(const char ip[static 4])
{
	struct sockaddr_in6 out = address(0, 0);

	memcpy((uint8_t *)&out + 4, ip, 4);
	return out;
}

static void test_groups(void **state)
{
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
	uint32_t id = caller(RDMA_PS_UDP);
	struct rdma_ucm_join_ip_mcast join = {
		.uid = 8, .id = id, .addr = group((char[]){(char)239, 1, 2, 3})};
	struct rdma_ucm_destroy_id leave = {0};
	struct rdma_ucm_destroy_id_resp left;
	struct rdma_ucm_event_resp e;

	(void)state;
	GOOD(JOIN_IP_MCAST, join);
	e = event(MULTICAST_JOIN, 8);
	assert_int_equal(e.param.ud.qp_num, 0xffffff);
	assert_int_equal(e.param.ud.qkey, 0x01234567);
	assert_memory_equal(e.param.ud.ah_attr.grh.dgid, gid, 16);
	assert_int_equal(e.param.ud.ah_attr.grh.hop_limit, 1);
	assert_int_equal(e.param.ud.ah_attr.grh.traffic_class, TOS);
	assert_int_equal(e.param.ud.ah_attr.is_global, 1);
	assert_int_equal(e.param.ud.ah_attr.port_num, 1);
	leave.id = e.id;
	GOOD(LEAVE_MCAST, leave);
	memcpy(&left, c.reply.response, sizeof(left));
	assert_int_equal(left.events_reported, 1);
	assert_int_equal(CALL(LEAVE_MCAST, leave), -ENOENT);
	join.addr = group((char[]){10, 1, 2, 3});
	assert_int_equal(CALL(JOIN_IP_MCAST, join), -EINVAL);
	join.addr = (struct sockaddr_in6){.sin6_family = AF_INET6};
	memcpy(&join.addr.sin6_addr, "\xff\x0e", 2);
	GOOD(JOIN_IP_MCAST, join);
	memcpy(&join.addr.sin6_addr, "\xfe\xff", 2);
	assert_int_equal(CALL(JOIN_IP_MCAST, join), -EINVAL);
}

/* An id goes to another open of the device with its groups and with events not yet read. */
static void test_migration(void **state)
{
	uint32_t id = caller(RDMA_PS_UDP), stays = caller(RDMA_PS_UDP);
	struct rdma_ucm_join_ip_mcast join = {
		.uid = 8, .id = id, .addr = group((char[]){(char)239, 1, 2, 3})};
	struct rdma_ucm_migrate_id move = {.id = id};
	struct rdma_ucm_destroy_id leave = {0}, destroy = {.id = id};
	struct rdma_ucm_migrate_resp moved;
	struct ucma_client to, from = c;
	struct rdma_ucm_create_id_resp g[2];

	(void)state;
	GOOD(JOIN_IP_MCAST, join);
	memcpy(&g[0], c.reply.response, sizeof(g[0]));
	join.id = stays;
	GOOD(JOIN_IP_MCAST, join);
	memcpy(&g[1], c.reply.response, sizeof(g[1]));
	ucma_client_open(&to, &t.d);
	assert_int_equal(
		ucma_client_call(&to, RDMA_USER_CM_CMD_MIGRATE_ID, &move, sizeof(move), c.sock), 0);
	memcpy(&moved, to.reply.response, sizeof(moved));
	assert_int_equal(moved.events_reported, 1);
	assert_int_equal(to.reply.h.flags, 0); /* another event waits there */
	leave.id = g[0].id;
	assert_int_equal(CALL(LEAVE_MCAST, leave), -ENOENT);
	leave.id = g[1].id;
	GOOD(LEAVE_MCAST, leave);
	assert_int_equal(CALL(DESTROY_ID, destroy), -ENOENT);
	c = to;
	event(MULTICAST_JOIN, 8);
	leave.id = g[0].id;
	GOOD(LEAVE_MCAST, leave);
	GOOD(DESTROY_ID, destroy);
	close(to.sock);
	c = from;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_query_addresses), TEST(test_query_path), TEST(test_query_route),
		TEST(test_connection),      TEST(test_rejection),  TEST(test_datagrams),
		TEST(test_groups),          TEST(test_migration),  TEST(test_refusals),
		TEST(test_initial_attr),    TEST(test_both_ends),  TEST(test_listener_tos),
		TEST(test_failed_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
