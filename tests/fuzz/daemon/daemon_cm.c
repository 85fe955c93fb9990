/* SPDX-License-Identifier: BSD-2-Clause */
/* Two rdma_cm programs of fuzz_daemon: meaningful calls, in any order. */
#include "daemon_cm.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/ib_user_sa.h>
#include <string.h>
#include <unistd.h>

#define PORT   7000
#define PORTS  3u
#define MANY   150u
#define EVENTS 8u

#define CONNECT_REQUEST 4 /* rdma_cm.h's events, which cannot be included beside the kernel's */
#define SEC_MS          1000u

/* The id that a call is for, and what its letter says, of which each call takes what it needs. */
struct step {
	struct daemon_cm_end *e;
	unsigned other; /* number of the other end's device */
	uint32_t id;
	uint8_t how;
};

static int call(struct daemon_cm_end *e, uint32_t cmd, const void *in, size_t len)
{
	int status = ucma_client_call(&e->c, cmd, in, len, -1);

	if (status == -ECONNRESET)
		daemon_cm_again(e);
	return status;
}

static void note_id(struct daemon_cm_end *e, uint32_t id)
{
	e->id[e->n++ % DAEMON_CM_IDS] = id;
}

/* ---- addresses: of a device, of any, of none, of IPv6, of InfiniBand ---- */

static struct sockaddr_in6 address(const struct step *s, unsigned device, uint8_t how)
{
	uint16_t port = (uint16_t)(PORT + how % PORTS);
	struct sockaddr_in6 at = ucma_client_address(s->e->c.daemon, device, port);

	if (how & 16)
		at = (struct sockaddr_in6){.sin6_family = AF_INET6,
					   .sin6_port = htons(port),
					   .sin6_addr = IN6ADDR_ANY_INIT};
	else if (how & 32) /* one that nobody has */
		((uint8_t *)&at)[7] ^= 0x55;
	return at;
}

static uint16_t storage(struct __kernel_sockaddr_storage *to, const struct sockaddr_in6 *from)
{
	/* The kernel's struct sockaddr_ib: family, P_Key, flow, GID, service id, mask, scope. */
	struct {
		uint16_t family, pkey;
		uint32_t flow;
		uint8_t gid[16];
		uint64_t sid, sid_mask, scope;
	} ib = {.family = AF_IB, .sid = htobe64(0x01060000ull + PORT), .sid_mask = ~0ull};

	if (from->sin6_family != AF_IB) {
		memcpy(to, from, sizeof(*from));
		return from->sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(*from);
	}
	memcpy(to, &ib, sizeof(ib));
	return sizeof(ib);
}

/* ---- calls ---- */

static void create(struct step *s)
{
	static const uint16_t spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB};
	struct rdma_ucm_create_id in = {.uid = s->how, .ps = spaces[s->how & 3]};
	uint32_t id;

	in.qp_type = s->how & 1 ? IBV_QPT_UD : IBV_QPT_RC;
	if (call(s->e, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in)))
		return;
	memcpy(&id, s->e->c.reply.response, sizeof(id));
	note_id(s->e, id);
}

static void destroy(struct step *s)
{
	struct rdma_ucm_destroy_id in = {.id = s->id};

	call(s->e, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in));
}

static void bind_to(struct step *s)
{
	struct rdma_ucm_bind_ip ip = {.id = s->id, .addr = address(s, 1 - s->other, s->how)};
	struct rdma_ucm_bind in = {.id = s->id};

	if (!(s->how & 64)) {
		call(s->e, RDMA_USER_CM_CMD_BIND_IP, &ip, sizeof(ip));
		return;
	}
	if (s->how & 128)
		ip.addr.sin6_family = AF_IB;
	in.addr_size = storage(&in.addr, &ip.addr);
	call(s->e, RDMA_USER_CM_CMD_BIND, &in, sizeof(in));
}

static void listen_for(struct step *s)
{
	struct rdma_ucm_listen in = {.id = s->id, .backlog = s->how & 3};

	call(s->e, RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in));
}

static void resolve_addr(struct step *s)
{
	struct rdma_ucm_resolve_ip ip = {
		.id = s->id, .timeout_ms = SEC_MS, .dst_addr = address(s, s->other, s->how)};
	struct rdma_ucm_resolve_addr in = {.id = s->id, .timeout_ms = SEC_MS};

	if (!(s->how & 64)) {
		call(s->e, RDMA_USER_CM_CMD_RESOLVE_IP, &ip, sizeof(ip));
		return;
	}
	in.dst_size = storage(&in.dst_addr, &ip.dst_addr);
	ip.src_addr = address(s, 1 - s->other, 0);
	if (s->how & 128)
		in.src_size = storage(&in.src_addr, &ip.src_addr);
	call(s->e, RDMA_USER_CM_CMD_RESOLVE_ADDR, &in, sizeof(in));
}

static void resolve_route(struct step *s)
{
	struct rdma_ucm_resolve_route in = {.id = s->id, .timeout_ms = SEC_MS};

	call(s->e, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &in, sizeof(in));
}

static struct rdma_ucm_conn_param parameters(const struct step *s)
{
	return (struct rdma_ucm_conn_param){.qp_num = 0x100u + s->how,
					    .private_data = {s->how},
					    .private_data_len = s->how & 64 ? 24 : s->how & 15,
					    .srq = s->how >> 4 & 1,
					    .responder_resources = s->how & 7,
					    .initiator_depth = s->how & 7,
					    .retry_count = 7,
					    .rnr_retry_count = 7,
					    .valid = 1};
}

static void connect_to(struct step *s)
{
	struct rdma_ucm_connect in = {.id = s->id, .conn_param = parameters(s)};

	call(s->e, RDMA_USER_CM_CMD_CONNECT, &in, sizeof(in));
}

static void accept_it(struct step *s)
{
	struct rdma_ucm_accept in = {.id = s->id, .uid = s->id, .conn_param = parameters(s)};

	in.conn_param.valid = s->how < 128; /* else: what establishes a connection, of a client */
	call(s->e, RDMA_USER_CM_CMD_ACCEPT, &in, sizeof(in));
}

static void reject(struct step *s)
{
	struct rdma_ucm_reject in = {
		.id = s->id, .private_data_len = s->how & 15, .reason = s->how & 16 ? 28 : 0};

	call(s->e, RDMA_USER_CM_CMD_REJECT, &in, sizeof(in));
}

static void disconnect(struct step *s)
{
	struct rdma_ucm_disconnect in = {.id = s->id};

	call(s->e, RDMA_USER_CM_CMD_DISCONNECT, &in, sizeof(in));
}

static void qp_attr(struct step *s)
{
	struct rdma_ucm_init_qp_attr in = {.id = s->id, .qp_state = IBV_QPS_INIT + s->how % 3u};

	call(s->e, RDMA_USER_CM_CMD_INIT_QP_ATTR, &in, sizeof(in));
}

static void query(struct step *s)
{
	struct rdma_ucm_query in = {.id = s->id, .option = s->how & 3};

	call(s->e, s->how & 4 ? RDMA_USER_CM_CMD_QUERY_ROUTE : RDMA_USER_CM_CMD_QUERY, &in,
	     sizeof(in));
}

static void set_option(struct step *s)
{
	static const struct {
		uint32_t level, name, size;
	} options[] = {{RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1},
		       {RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1},
		       {RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4},
		       {RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4},
		       {RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, sizeof(struct ib_path_rec_data)}};
	const struct ib_path_rec_data path = {.flags = IB_PATH_GMP | IB_PATH_PRIMARY |
						       IB_PATH_BIDIRECTIONAL};
	const unsigned n = s->how % (sizeof(options) / sizeof(options[0]));
	int one = s->how >> 4;

	if (ucma_client_option(&s->e->c, s->id, options[n].level, options[n].name,
			       n == 4 ? (const void *)&path : &one, options[n].size) == -ECONNRESET)
		daemon_cm_again(s->e);
}

static void join(struct step *s)
{
	struct rdma_ucm_join_ip_mcast ip = {.id = s->id, .uid = s->how};
	struct rdma_ucm_join_mcast in = {
		.id = s->id, .uid = s->how, .join_flags = s->how & 1 ? 1 : 0};
	struct sockaddr_in group = {.sin_family = AF_INET,
				    .sin_addr = {htonl(0xe0000100u + (s->how & 3))}};

	memcpy(&ip.addr, &group, sizeof(group));
	memcpy(&in.addr, &group, sizeof(group));
	in.addr_size = sizeof(group);
	if (s->how & 8)
		call(s->e, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &ip, sizeof(ip));
	else
		call(s->e, RDMA_USER_CM_CMD_JOIN_MCAST, &in, sizeof(in));
	if (s->e->c.reply.h.status == 0 && s->how & 16) {
		struct rdma_ucm_destroy_id leave = {0};

		memcpy(&leave.id, s->e->c.reply.response, sizeof(leave.id));
		call(s->e, RDMA_USER_CM_CMD_LEAVE_MCAST, &leave, sizeof(leave));
	}
}

static void notify(struct step *s)
{
	struct rdma_ucm_notify in = {.id = s->id,
				     .event = s->how & 1 ? IBV_EVENT_COMM_EST : IBV_EVENT_QP_FATAL};

	call(s->e, RDMA_USER_CM_CMD_NOTIFY, &in, sizeof(in));
}

/* A connection request brings an id of its own. */
static void take_events(struct step *s)
{
	struct rdma_ucm_event_resp event;
	int type = 0;

	for (unsigned i = 0; i < EVENTS && type >= 0; i++) {
		type = ucma_client_event(&s->e->c, &event);
		if (type == CONNECT_REQUEST)
			note_id(s->e, event.id);
	}
	if (type == -ECONNRESET)
		daemon_cm_again(s->e);
}

/* ---- both ends of a connection, as far as the letter says ---- */

static void use_last(struct step *s)
{
	s->id = s->e->id[(s->e->n + DAEMON_CM_IDS - 1) % DAEMON_CM_IDS];
}

static void both(struct daemon_cm *m, uint8_t how)
{
	static const struct {
		unsigned who;
		void (*run)(struct step *s);
	} script[] = {
		{0, create},       {0, bind_to},     {0, listen_for},    {1, create},
		{1, resolve_addr}, {1, take_events}, {1, resolve_route}, {1, take_events},
		{1, connect_to},   {0, take_events}, {0, accept_it},     {1, take_events},
		{1, accept_it},    {0, take_events}, {0, disconnect},    {1, take_events},
	};
	struct step s[2] = {{&m->end[0], 1, 0, how & 3}, {&m->end[1], 0, 0, how & 3}};

	for (unsigned i = 0; i < sizeof(script) / sizeof(script[0]) && i <= how >> 4; i++) {
		struct step *one = &s[script[i].who];

		one->how = (how & 3) | (script[i].who && script[i].run == accept_it ? 128 : 0);
		script[i].run(one);
		use_last(one);
	}
}

void daemon_cm_step(struct daemon_cm *m, struct fuzz_input *in)
{
	static void (*const calls[])(struct step * s) = {
		create,     destroy,   bind_to, listen_for, resolve_addr, resolve_route,
		connect_to, accept_it, reject,  disconnect, qp_attr,      query,
		set_option, join,      notify,  take_events};
	const uint8_t op = input_u8(in), how = input_u8(in);
	struct daemon_cm_end *e = &m->end[op >> 4 & 1];
	struct step s = {e, 1 - (op >> 4 & 1), e->id[op >> 5], how};

	if ((op & 15) == 0 && op >> 5 == 7)
		both(m, how);
	else
		calls[op & 15](&s);
}

/* ---- coming and going ---- */

void daemon_cm_open(struct daemon_cm *m, struct io_daemon *d)
{
	if (m->open)
		return;
	for (unsigned i = 0; i < 2; i++) {
		m->end[i] = (struct daemon_cm_end){.n = 0};
		ucma_client_open(&m->end[i].c, d);
	}
	m->open = true;
}

void daemon_cm_close(struct daemon_cm *m)
{
	for (unsigned i = 0; i < 2 && m->open; i++)
		close(m->end[i].c.sock);
	m->open = false;
}

void daemon_cm_again(struct daemon_cm_end *e)
{
	struct io_daemon *d = e->c.daemon;

	close(e->c.sock);
	*e = (struct daemon_cm_end){.n = 0};
	ucma_client_open(&e->c, d);
}

/* ---- a program that makes many ids, reads no event, and dies ---- */

static int call_of(struct ucma_client *c, uint32_t cmd, const void *in, size_t len)
{
	return ucma_client_call(c, cmd, in, len, -1);
}

static uint32_t new_id(struct ucma_client *c, uint16_t ps)
{
	struct rdma_ucm_create_id in = {.uid = 1, .ps = ps};
	uint32_t id = 0;

	if (call_of(c, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in)) == 0)
		memcpy(&id, c->reply.response, sizeof(id));
	return id;
}

static void bind_id(struct ucma_client *c, uint32_t id, uint16_t port)
{
	struct rdma_ucm_bind_ip in = {.id = id,
				      .addr = ucma_client_address(c->daemon, id & 1, port)};

	call_of(c, RDMA_USER_CM_CMD_BIND_IP, &in, sizeof(in));
}

static void listen_id(struct ucma_client *c, uint32_t id, uint16_t port)
{
	struct rdma_ucm_listen in = {.id = id, .backlog = MANY};

	bind_id(c, id, port);
	call_of(c, RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in));
}

/* As far as the tape says: an address, a route, a connection. */
static void connect_id(struct ucma_client *c, uint32_t id, uint16_t port, unsigned how_far)
{
	struct rdma_ucm_resolve_ip addr = {.id = id,
					   .dst_addr = ucma_client_address(c->daemon, 0, port)};
	struct rdma_ucm_resolve_route route = {.id = id};
	struct rdma_ucm_connect connect = {.id = id, .conn_param = {.valid = 1, .qp_num = id + 2}};

	call_of(c, RDMA_USER_CM_CMD_RESOLVE_IP, &addr, sizeof(addr));
	if (how_far > 0)
		call_of(c, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route, sizeof(route));
	if (how_far > 1)
		call_of(c, RDMA_USER_CM_CMD_CONNECT, &connect, sizeof(connect));
}

static void join_group(struct ucma_client *c, uint32_t id, uint32_t number)
{
	struct sockaddr_in group = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(0xe0010000 + number)};
	struct rdma_ucm_join_ip_mcast in = {.uid = number, .id = id};

	memcpy(&in.addr, &group, sizeof(group));
	call_of(c, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &in, sizeof(in));
}

static void one_more(struct ucma_client *c, unsigned i, uint8_t how)
{
	const uint16_t port = (uint16_t)(7000 + how % 3);
	uint32_t id;

	switch (how >> 5) {
	case 0:
		bind_id(c, new_id(c, RDMA_PS_TCP), 0);
		break;
	case 1:
		listen_id(c, new_id(c, RDMA_PS_TCP), (uint16_t)(8000 + i));
		break;
	case 2:
		id = new_id(c, RDMA_PS_UDP);
		bind_id(c, id, 0);
		for (unsigned n = 0; n < 8; n++)
			join_group(c, id, n);
		break;
	default:
		if (i == 0)
			listen_id(c, new_id(c, RDMA_PS_TCP), port);
		connect_id(c, new_id(c, RDMA_PS_TCP), port, how & 3);
		break;
	}
}

void daemon_cm_hoard(struct io_daemon *d, struct fuzz_input *in)
{
	const uint8_t how = input_u8(in);
	struct ucma_client c;

	ucma_client_open(&c, d);
	for (unsigned i = 0; i < MANY; i++)
		one_more(&c, i, how);
	close(c.sock);
}
