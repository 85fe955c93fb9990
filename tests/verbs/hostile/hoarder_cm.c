/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of hoarder.c that rdma_cm has: ids in each state, ports, events, joins, channels. */
#include "hoarder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MANY   20000u
#define JOINS  1000u /* of one id */
#define EVENTS 4096u /* likewise */

static struct rdma_event_channel *events;
static struct rdma_cm_id *id[MANY], *first;

static struct rdma_event_channel *channel(void)
{
	if (!events)
		events = rdma_create_event_channel();
	if (!events)
		rig_die("rdma_create_event_channel");
	return events;
}

static struct sockaddr_in at(uint32_t host, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
}

static uint32_t own_host(void)
{
	uint32_t host;

	memcpy(&host, rig.gid.raw + 12, 4);
	return ntohl(host);
}

static struct rdma_cm_id *make_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *made_id;

	return rdma_create_id(channel(), &made_id, NULL, ps) ? NULL : made_id;
}

static bool bind_to(struct rdma_cm_id *one, uint16_t port)
{
	struct sockaddr_in a = at(own_host(), port);

	return !rdma_bind_addr(one, (struct sockaddr *)&a);
}

static bool resolve(struct rdma_cm_id *one, uint16_t port)
{
	struct sockaddr_in a = at(own_host(), port);

	return !rdma_resolve_addr(one, NULL, (struct sockaddr *)&a, 1000);
}

static bool make_idle(unsigned i)
{
	return (id[i] = make_id(RDMA_PS_TCP)) != NULL;
}

static bool make_bound(unsigned i)
{
	return make_idle(i) && bind_to(id[i], 0);
}

/* All have the same port, as they may. */
static bool make_sharing(unsigned i)
{
	int on = 1;

	return make_idle(i) &&
	       !rdma_set_option(id[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)) &&
	       bind_to(id[i], 7471);
}

/* An event of each that nobody reads. */
static bool make_resolving(unsigned i)
{
	return make_idle(i) && resolve(id[i], 7471);
}

static bool make_listening(unsigned i)
{
	return make_bound(i) && !rdma_listen(id[i], 1024);
}

static struct rdma_cm_event *next_event(void)
{
	struct pollfd p = {.fd = channel()->fd, .events = POLLIN};
	struct rdma_cm_event *e;

	if (poll(&p, 1, 120000) != 1 || rdma_get_cm_event(events, &e))
		rig_die("rdma_get_cm_event");
	return e;
}

/* Reads events until this one comes, and acknowledges them; whose it was. */
static struct rdma_cm_id *expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *whose;
	bool found;

	do {
		e = next_event();
		found = e->event == type;
		whose = e->id;
		rdma_ack_cm_event(e);
	} while (!found);
	return whose;
}

static bool make_join(unsigned i)
{
	struct sockaddr_in group = at(0xe0010000 + i, 0);

	if (i % JOINS == 0) {
		first = make_id(RDMA_PS_UDP);
		if (!first || !resolve(first, 7471))
			rig_die("an id for joins");
		expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	}
	return !rdma_join_multicast(first, (struct sockaddr *)&group, NULL);
}

/*
 * rdma_write_cm_event of later librdmacm, by hand: each id takes 4096. Numbers of ids are the
 * smallest free ones, and nobody else has any (emu/io/ucma/ucma_user_event.c has the structure).
 */
static bool make_user_event(unsigned i)
{
	struct {
		uint32_t cmd;
		uint16_t in, out;
		uint32_t id, reserved, event, status;
		uint64_t arg;
	} request = {.cmd = 24, .in = 24, .id = i / EVENTS, .event = 18, .arg = i};

	if (i % EVENTS == 0 && !make_idle(i / EVENTS))
		return false;
	return write(events->fd, &request, sizeof(request)) == (ssize_t)sizeof(request);
}

static bool start_connect(unsigned i)
{
	struct rdma_conn_param param = {.qp_num = i + 2};

	id[i] = make_id(RDMA_PS_TCP);
	if (!id[i] || !resolve(id[i], ntohs(rdma_get_src_port(first))))
		return false;
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id[i], 1000))
		return false;
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	return !rdma_connect(id[i], &param);
}

static void listen_once(void)
{
	if (first)
		return;
	first = make_id(RDMA_PS_TCP);
	if (!first || !bind_to(first, 0) || rdma_listen(first, 1024))
		rig_die("a listener");
}

/* Requests that nobody answers: the listener's events are those of another channel. */
static bool make_request(unsigned i)
{
	static struct rdma_event_channel *other;

	if (!first) {
		other = channel();
		listen_once();
		events = NULL;
	}
	return other && start_connect(i);
}

static bool make_connection(unsigned i)
{
	struct rdma_conn_param param = {.qp_num = i + 2};
	struct rdma_cm_id *passive;

	listen_once();
	if (!start_connect(i))
		return false;
	passive = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (rdma_accept(passive, &param))
		return false;
	expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (rdma_establish(id[i]))
		return false;
	expect(RDMA_CM_EVENT_ESTABLISHED);
	return true;
}

/* All at once, and nobody reads what comes of it. */
static void disconnect_half(void)
{
	for (unsigned i = 0; i < made; i += 2)
		rdma_disconnect(id[i]);
}

static bool make_open(unsigned i)
{
	events = NULL;
	return make_resolving(i);
}

const struct hoard hoard_cm[] = {
	{"cm_idle", MANY, MANY, make_idle, NULL},
	{"cm_user_event", MANY, MANY, make_user_event, NULL},
	{"cm_bound", MANY, 10000, make_bound, NULL},
	{"cm_sharing", MANY, 500, make_sharing, NULL},
	{"cm_event", MANY, 10000, make_resolving, NULL},
	{"cm_listener", MANY, 10000, make_listening, NULL},
	{"cm_request", 4000, 4000, make_request, NULL},
	{"cm_connection", 2000, 2000, make_connection, disconnect_half},
	{"cm_join", MANY, MANY, make_join, NULL},
	{"cm_open", 2000, 900, make_open, NULL},
	{NULL, 0, 0, NULL, NULL},
};
