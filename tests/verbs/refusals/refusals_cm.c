/* SPDX-License-Identifier: BSD-2-Clause */
/* As refusals.c, of librdmacm's calls. */
#include "tests/support/wire/cmocka_all.h"
#include "watch_log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct rdma_event_channel *channel;

static struct sockaddr_in address(const char *text, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, text, &a.sin_addr);
	return a;
}

/* Of the first device: where other instances run it is not 127.0.0.1. */
static const char *own_address(void)
{
	const char *a = getenv("UHCA_ADDR_0");

	assert_non_null(a);
	return a;
}

static struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(channel, &id, NULL, ps), 0);
	return id;
}

static void eat_event(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;

	assert_int_equal(rdma_get_cm_event(channel, &e), 0);
	assert_int_equal(e->event, type);
	rdma_ack_cm_event(e);
}

static struct rdma_cm_id *bound_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id = new_id(ps);
	struct sockaddr_in own = address(own_address(), 0);

	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	return id;
}

static struct rdma_cm_id *resolved_id(bool route)
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
	struct sockaddr_in peer = address(own_address(), 4711);

	assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 1000), 0);
	eat_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!route)
		return id;
	assert_int_equal(rdma_resolve_route(id, 1000), 0);
	eat_event(RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static int ended(struct rdma_cm_id *id, int ret)
{
	int err = ret ? errno : 0;

	rdma_destroy_id(id);
	return err;
}

/* ---- rows ---- */

static int create_space(void)
{
	struct rdma_cm_id *id;

	return rdma_create_id(channel, &id, NULL, (enum rdma_port_space)0x999) ? errno : 0;
}

static int bind_twice(void)
{
	struct rdma_cm_id *id = bound_id(RDMA_PS_TCP);
	struct sockaddr_in own = address(own_address(), 0);

	return ended(id, rdma_bind_addr(id, (struct sockaddr *)&own));
}

static int bind_nowhere(void)
{
	struct sockaddr_in no = address("192.0.2.1", 0);
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	return ended(id, rdma_bind_addr(id, (struct sockaddr *)&no));
}

static int bind_taken(void)
{
	struct rdma_cm_id *one = new_id(RDMA_PS_TCP), *other = new_id(RDMA_PS_TCP);
	struct sockaddr_in any = address("0.0.0.0", 7171), a = address(own_address(), 7171);
	int err;

	assert_int_equal(rdma_bind_addr(one, (struct sockaddr *)&any), 0);
	err = ended(other, rdma_bind_addr(other, (struct sockaddr *)&a));
	rdma_destroy_id(one);
	return err;
}

static int listen_late(void)
{
	struct rdma_cm_id *id = resolved_id(false);

	return ended(id, rdma_listen(id, 1));
}

static int resolve_twice(void)
{
	struct rdma_cm_id *id = resolved_id(false);
	struct sockaddr_in peer = address(own_address(), 4711);

	return ended(id, rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 1000));
}

static int resolve_family(void)
{
	struct rdma_cm_id *id = bound_id(RDMA_PS_TCP);
	struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = 1};

	inet_pton(AF_INET6, "::1", &peer.sin6_addr);
	return ended(id, rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 1000));
}

static int route_twice(void)
{
	struct rdma_cm_id *id = resolved_id(true);

	return ended(id, rdma_resolve_route(id, 1000));
}

static int connect_early(void)
{
	struct rdma_cm_id *id = resolved_id(false);
	struct rdma_conn_param p = {.qp_num = 1};

	return ended(id, rdma_connect(id, &p));
}

static int connect_data(void)
{
	struct rdma_cm_id *id = resolved_id(true);
	uint8_t data[200] = {0};
	struct rdma_conn_param p = {
		.qp_num = 1, .private_data = data, .private_data_len = sizeof(data)};

	return ended(id, rdma_connect(id, &p));
}

static int accept_nothing(void)
{
	struct rdma_cm_id *id = resolved_id(true);
	struct rdma_conn_param p = {.qp_num = 1};

	return ended(id, rdma_accept(id, &p));
}

static int reject_nothing(void)
{
	struct rdma_cm_id *id = resolved_id(true);

	return ended(id, rdma_reject(id, NULL, 0));
}

static int disconnect_nothing(void)
{
	struct rdma_cm_id *id = resolved_id(false);

	return ended(id, rdma_disconnect(id));
}

static int notify_event(void)
{
	struct rdma_cm_id *id = resolved_id(false);

	return ended(id, rdma_notify(id, IBV_EVENT_SQ_DRAINED));
}

static int join_no_group(void)
{
	struct rdma_cm_id *id = resolved_id(false);
	struct sockaddr_in no = address("127.0.0.9", 0);

	return ended(id, rdma_join_multicast(id, (struct sockaddr *)&no, NULL));
}

static int option(int level, int name, const void *value, size_t len)
{
	struct rdma_cm_id *id = bound_id(RDMA_PS_TCP);

	return ended(id, rdma_set_option(id, level, name, (void *)(uintptr_t)value, len));
}

static int option_timeout(void)
{
	uint8_t timeout = 32;

	return option(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1);
}

static int option_length(void)
{
	return option(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, "ab", 2);
}

static int option_none(void)
{
	return option(RDMA_OPTION_ID, 99, "a", 1);
}

static int option_level(void)
{
	return option(77, 1, "a", 1);
}

static int option_late(void)
{
	int off = 0;

	return option(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &off, sizeof(off));
}

static int attr_early(void)
{
	struct rdma_cm_id *id = resolved_id(false);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR};
	int mask;

	return ended(id, rdma_init_qp_attr(id, &a, &mask));
}

static const struct row {
	const char *name;
	int err;
	const char *call, *words;
	int (*make)(void);
} rows[] = {
	{"create_space", EINVAL, "rdma_create_id", "ps 0x999 is not a port space", create_space},
	{"bind_twice", EINVAL, "rdma_bind_addr of id",
	 "the id is bound: rdma_bind_addr needs an unbound id", bind_twice},
	{"bind_nowhere", EADDRNOTAVAIL, "rdma_bind_addr of id", "the host has no address 192.0.2.1",
	 bind_nowhere},
	{"bind_taken", EADDRNOTAVAIL, "rdma_bind_addr of id", "port 7171 is in use by another id",
	 bind_taken},
	{"listen_late", EINVAL, "rdma_listen of id", "rdma_listen needs a bound id", listen_late},
	{"resolve_twice", EINVAL, "rdma_resolve_addr of id",
	 "rdma_resolve_addr needs an unresolved id", resolve_twice},
	{"resolve_family", EINVAL, "rdma_resolve_addr of id", "dst_addr has family 10",
	 resolve_family},
	{"route_twice", EINVAL, "rdma_resolve_route of id",
	 "rdma_resolve_route needs a resolved address and no route", route_twice},
	{"connect_early", EINVAL, "rdma_connect of id", "rdma_connect needs a resolved route",
	 connect_early},
	{"connect_data", EINVAL, "rdma_connect of id", "private_data_len 200 exceeds 56",
	 connect_data},
	{"accept_nothing", EINVAL, "rdma_accept of id", "no connection request to accept",
	 accept_nothing},
	{"reject_nothing", EINVAL, "rdma_reject of id", "no connection request to reject",
	 reject_nothing},
	{"disconnect_nothing", EINVAL, "rdma_disconnect of id", "no connection to disconnect",
	 disconnect_nothing},
	{"notify_event", EINVAL, "rdma_notify of id", "is not IBV_EVENT_COMM_EST", notify_event},
	{"join_no_group", EINVAL, "rdma_join_multicast of id", "addr is not a multicast address",
	 join_no_group},
	{"option_timeout", EINVAL, "rdma_set_option of id",
	 "RDMA_OPTION_ID_ACK_TIMEOUT 32 exceeds 31", option_timeout},
	{"option_length", EINVAL, "rdma_set_option of id", "optlen 2 is not 1", option_length},
	{"option_none", ENOSYS, "rdma_set_option of id", "optname 99", option_none},
	{"option_level", ENOSYS, "rdma_set_option of id", "level 77 has no optname 1",
	 option_level},
	{"option_late", EINVAL, "rdma_set_option of id",
	 "RDMA_OPTION_ID_REUSEADDR must be set before binding", option_late},
	{"attr_early", EINVAL, "rdma_init_qp_attr of id", "without a connection", attr_early},
};

static void test_walk(void **state)
{
	(void)state;
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		int got;

		/* The log leaves out what comes too often: then the call is made again. */
		do {
			got = r->make();
			if (got != r->err)
				fail_msg("%s: %d (%s), wanted %d (%s)", r->name, got, strerror(got),
					 r->err, strerror(r->err));
		} while (!watch_log_has(r->name, r->call, r->err, r->words));
	}
	watch_log_end();
	rdma_destroy_event_channel(channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_walk)};

	return !watch_log_begin() || cmocka_run_group_tests(tests, NULL, NULL);
}
