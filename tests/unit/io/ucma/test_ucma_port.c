/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of rdma_cm ids: which are given, who may share one, who listens at it, and whom a request
 * reaches then.
 */
#include "tests/support/io/own_net.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define PORT 7471
#define ANY  2 /* no device: every address of a family */

enum { ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4, REJECTED = 8 };

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
	io_test_daemon_end(&t);
	return 0;
}

#define CALL(cmd, in) ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1)

static struct sockaddr_in6 address(unsigned device, uint16_t port)
{
	struct sockaddr_in6 out;

	if (device < ANY)
		return ucma_client_address(&t.d, device, port);
	out = ucma_client_address(&t.d, 0, port);
	memset((uint8_t *)&out + 4, 0, 4);
	return out;
}

static struct sockaddr_in6 any_v6(uint16_t port)
{
	return (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
}

static uint32_t create(uint64_t uid)
{
	return ucma_client_create(&c, RDMA_PS_TCP, uid);
}

static int bind_id(uint32_t id, struct sockaddr_in6 a)
{
	struct rdma_ucm_bind_ip in = {.addr = a, .id = id};

	return CALL(BIND_IP, in);
}

static int start_to_listen(uint32_t id)
{
	struct rdma_ucm_listen in = {.id = id, .backlog = 8};

	return CALL(LISTEN, in);
}

static void destroy(uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	assert_int_equal(CALL(DESTROY_ID, in), 0);
}

static void set(uint32_t id, uint32_t option, int value)
{
	assert_int_equal(ucma_client_option(&c, id, RDMA_OPTION_ID, option, &value, sizeof(value)),
			 0);
}

static uint16_t port_of(uint32_t id)
{
	struct rdma_ucm_query in = {.id = id};
	struct rdma_ucm_query_route_resp resp;

	assert_int_equal(CALL(QUERY_ROUTE, in), 0);
	memcpy(&resp, c.reply.response, sizeof(resp));
	return ntohs(resp.src_addr.sin6_port);
}

/* A call to this address, by an id of its own; what comes of it. */
static uint32_t call(struct sockaddr_in6 to, uint64_t listener)
{
	uint32_t id = create(99), came;
	struct rdma_ucm_resolve_ip resolve = {.id = id, .dst_addr = to};
	struct rdma_ucm_resolve_route route = {.id = id};
	struct rdma_ucm_connect connect = {.id = id, .conn_param = {.valid = 1}};
	struct rdma_ucm_event_resp e;

	assert_int_equal(CALL(RESOLVE_IP, resolve), 0);
	ucma_client_expect(&c, ADDR_RESOLVED, 99);
	assert_int_equal(CALL(RESOLVE_ROUTE, route), 0);
	ucma_client_expect(&c, ROUTE_RESOLVED, 99);
	assert_int_equal(CALL(CONNECT, connect), 0);
	came = (uint32_t)ucma_client_event(&c, &e);
	if (came == CONNECT_REQUEST) {
		assert_int_equal(e.uid, listener);
		destroy(e.id);
		ucma_client_expect(&c, REJECTED, 99);
	}
	destroy(id);
	return came;
}

/* Who asks for no port gets one of the usual range that nobody has. */
static void test_chosen(void **state)
{
	uint16_t port[20];

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		uint32_t id = create(1);

		assert_int_equal(bind_id(id, address(i % 3, 0)), 0);
		port[i] = port_of(id);
		assert_in_range(port[i], 32768, 60999);
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(port[k], port[i]);
	}
}

/* Who calls has a port, too, of its own. */
static void test_of_active_doorbells(void **state)
{
	uint16_t port[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rdma_ucm_resolve_ip in = {.id = create(1), .dst_addr = address(0, PORT)};

		assert_int_equal(CALL(RESOLVE_IP, in), 0);
		ucma_client_expect(&c, ADDR_RESOLVED, 1);
		port[i] = port_of(in.id);
		assert_in_range(port[i], 32768, 60999);
	}
	assert_int_not_equal(port[0], port[1]);
}

/* To listen is enough: any address of IPv4, any port. */
static void test_listens_unbound(void **state)
{
	uint32_t id = create(1);

	(void)state;
	assert_int_equal(start_to_listen(id), 0);
	assert_in_range(port_of(id), 32768, 60999);
	assert_int_equal(call(address(0, port_of(id)), 1), CONNECT_REQUEST);
	assert_int_equal(call(address(1, port_of(id)), 1), CONNECT_REQUEST);
	assert_int_equal(start_to_listen(id), -EINVAL); /* it does already */
}

/* With the id goes its hold. */
static void test_freed(void **state)
{
	uint32_t first = create(1), second = create(2);

	(void)state;
	assert_int_equal(bind_id(first, address(0, PORT)), 0);
	assert_int_equal(bind_id(second, address(0, PORT)), -EADDRINUSE);
	assert_int_equal(bind_id(second, address(ANY, PORT)), -EADDRNOTAVAIL);
	destroy(first);
	assert_int_equal(bind_id(second, address(ANY, PORT)), 0);
	assert_int_equal(port_of(second), PORT);
}

/* Both must have said so, and who listens is alone: Linux 6.1 and cma.c. */
static void test_reused(void **state)
{
	uint32_t a = create(1), b = create(2), third = create(3);

	(void)state;
	set(a, RDMA_OPTION_ID_REUSEADDR, 1);
	assert_int_equal(bind_id(a, address(0, PORT)), 0);
	assert_int_equal(bind_id(b, address(0, PORT)), -EADDRINUSE);
	set(b, RDMA_OPTION_ID_REUSEADDR, 1);
	assert_int_equal(bind_id(b, address(0, PORT)), 0);
	assert_int_equal(bind_id(third, address(0, PORT)), -EADDRINUSE);
	set(third, RDMA_OPTION_ID_REUSEADDR, 1);
	set(third, RDMA_OPTION_ID_REUSEADDR, 0);
	assert_int_equal(bind_id(third, address(0, PORT)), -EADDRINUSE);
	set(third, RDMA_OPTION_ID_REUSEADDR, 1);
	assert_int_equal(bind_id(third, address(ANY, PORT)), 0);
	assert_int_equal(start_to_listen(a), -EADDRNOTAVAIL);
	destroy(third);
	assert_int_equal(start_to_listen(a), -EADDRINUSE);
	destroy(b);
	assert_int_equal(start_to_listen(a), 0);
	assert_int_equal(call(address(0, PORT), 1), CONNECT_REQUEST);
	third = create(4);
	set(third, RDMA_OPTION_ID_REUSEADDR, 1);
	assert_int_equal(bind_id(third, address(0, PORT)), -EADDRINUSE);
}

/* An address of one device takes that device's calls; all of a family those of every device. */
static void test_whom_a_call_reaches(void **state)
{
	uint32_t one = create(1), all = create(2);

	(void)state;
	assert_int_equal(bind_id(one, address(0, PORT)), 0);
	assert_int_equal(call(address(0, PORT), 1), REJECTED); /* bound is not listening */
	assert_int_equal(start_to_listen(one), 0);
	assert_int_equal(call(address(0, PORT), 1), CONNECT_REQUEST);
	assert_int_equal(call(address(1, PORT), 1), REJECTED);
	assert_int_equal(call(address(0, PORT + 1), 1), REJECTED);
	destroy(one);
	assert_int_equal(bind_id(all, address(ANY, PORT)), 0);
	assert_int_equal(start_to_listen(all), 0);
	assert_int_equal(call(address(0, PORT), 2), CONNECT_REQUEST);
	assert_int_equal(call(address(1, PORT), 2), CONNECT_REQUEST);
}

/* IPv6 with no address takes calls to IPv4, too, unless it is for its family only. */
static void test_families(void **state)
{
	uint32_t both = create(1), v6 = create(2), v4 = create(3);

	(void)state;
	assert_int_equal(bind_id(both, any_v6(PORT)), 0);
	assert_int_equal(start_to_listen(both), 0);
	assert_int_equal(call(address(1, PORT), 1), CONNECT_REQUEST);
	assert_int_equal(bind_id(v4, address(ANY, PORT)), -EADDRNOTAVAIL);
	destroy(both);
	set(v6, RDMA_OPTION_ID_AFONLY, 1);
	assert_int_equal(bind_id(v6, any_v6(PORT)), 0);
	assert_int_equal(start_to_listen(v6), 0);
	assert_int_equal(call(address(1, PORT), 2), REJECTED);
	assert_int_equal(bind_id(v4, address(ANY, PORT)), 0);
	assert_int_equal(start_to_listen(v4), 0);
	assert_int_equal(call(address(1, PORT), 3), CONNECT_REQUEST);
}

/* One of IPv4 is of its family only unless it was told otherwise. */
static void test_family_by_default(void **state)
{
	uint32_t v6 = create(1), v4 = create(2);

	(void)state;
	set(v6, RDMA_OPTION_ID_AFONLY, 1);
	assert_int_equal(bind_id(v6, any_v6(PORT)), 0);
	set(v4, RDMA_OPTION_ID_AFONLY, 0);
	assert_int_equal(bind_id(v4, address(ANY, PORT)), -EADDRNOTAVAIL);
	destroy(v4);
	v4 = create(3);
	assert_int_equal(bind_id(v4, address(ANY, PORT)), 0);
}

/* ::1 is this host, too, where the device has an address of IPv4. */
static void test_localhost_of_ipv6(void **state)
{
	uint32_t both = create(1);
	struct sockaddr_in6 localhost = any_v6(PORT);

	(void)state;
	localhost.sin6_addr.s6_addr[15] = 1;
	assert_int_equal(bind_id(both, any_v6(PORT)), 0);
	assert_int_equal(start_to_listen(both), 0);
	assert_int_equal(call(localhost, 1), CONNECT_REQUEST);
}

static void test_options(void **state)
{
	uint32_t id = create(1);
	const uint32_t one = 1;

	(void)state;
	assert_int_equal(
		ucma_client_option(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 1),
		-EINVAL);
	assert_int_equal(ucma_client_option(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, 2),
			 -EINVAL);
	assert_int_equal(ucma_client_option(&c, id, RDMA_OPTION_ID, 4, &one, 4), -ENOSYS);
	assert_int_equal(ucma_client_option(&c, id, RDMA_OPTION_IB, 4, &one, 4), -ENOSYS);
}

static int option(uint32_t id, uint32_t name, uint32_t value, unsigned len)
{
	return ucma_client_option(&c, id, RDMA_OPTION_ID, name, &value, len);
}

/* When an option may still be set, and on what (Linux 6.1 and cma.c). */
static void test_options_late(void **state)
{
	uint32_t id = create(1), udp = ucma_client_create(&c, RDMA_PS_UDP, 2);
	struct rdma_ucm_resolve_ip in = {.id = id, .dst_addr = address(0, PORT)};

	(void)state;
	assert_int_equal(bind_id(id, address(ANY, PORT)), 0);
	assert_int_equal(option(id, RDMA_OPTION_ID_REUSEADDR, 1, 4), 0);
	assert_int_equal(option(id, RDMA_OPTION_ID_REUSEADDR, 0, 4), -EINVAL);
	assert_int_equal(option(id, RDMA_OPTION_ID_AFONLY, 0, 4), 0);
	assert_int_equal(start_to_listen(id), 0);
	assert_int_equal(option(id, RDMA_OPTION_ID_REUSEADDR, 1, 4), -EINVAL);
	assert_int_equal(option(id, RDMA_OPTION_ID_AFONLY, 1, 4), -EINVAL);
	assert_int_equal(option(id, RDMA_OPTION_ID_TOS, 4, 1), 0);
	in.id = create(3);
	assert_int_equal(CALL(RESOLVE_IP, in), 0);
	assert_int_equal(option(in.id, RDMA_OPTION_ID_AFONLY, 1, 4), -EINVAL);
	assert_int_equal(option(in.id, RDMA_OPTION_ID_REUSEADDR, 1, 4), 0);
	assert_int_equal(option(in.id, RDMA_OPTION_ID_ACK_TIMEOUT, 14, 1), 0);
	assert_int_equal(option(in.id, RDMA_OPTION_ID_ACK_TIMEOUT, 32, 1), -EINVAL);
	assert_int_equal(option(udp, RDMA_OPTION_ID_ACK_TIMEOUT, 14, 1), -EINVAL);
}

/*
 * A process that takes all the ports it can has half of those that are chosen, and none of them by
 * their numbers beside; what it leaves is there for the others. Others are not concerned.
 */
static void test_share(void **state)
{
	const struct ucma_range *range = &t.d.ucma.range[0];
	uint32_t last = create(1);
	unsigned n = 0;

	(void)state;
	while (bind_id(last, address(0, 0)) == 0) {
		last = create(1);
		n++;
	}
	assert_int_equal(n, UCMA_PORTS / 2);
	assert_int_equal(range->n, n);
	for (uint16_t port = UCMA_FIRST_PORT; port < UCMA_FIRST_PORT + 100; port++)
		assert_int_not_equal(bind_id(last, address(0, port)), 0);
	assert_int_equal(bind_id(last, address(0, PORT)), 0);
	destroy(0);
	assert_int_equal(bind_id(create(1), address(0, 0)), 0);
	assert_int_equal(bind_id(ucma_client_create(&c, RDMA_PS_UDP, 1), address(0, 0)), 0);
}

/* What one can add to a port at which others are has a bound: each request looks at all of them. */
static void test_sharers(void **state)
{
	uint32_t id = create(1);

	(void)state;
	for (unsigned i = 0; i < 1024; i++, id = create(1)) {
		set(id, RDMA_OPTION_ID_REUSEADDR, 1);
		assert_int_equal(bind_id(id, address(0, PORT)), 0);
	}
	set(id, RDMA_OPTION_ID_REUSEADDR, 1);
	assert_int_equal(bind_id(id, address(0, PORT)), -EADDRNOTAVAIL);
	destroy(0);
	assert_int_equal(bind_id(id, address(0, PORT)), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_chosen),
		TEST(test_of_active_doorbells),
		TEST(test_listens_unbound),
		TEST(test_freed),
		TEST(test_reused),
		TEST(test_families),
		TEST(test_family_by_default),
		TEST(test_whom_a_call_reaches),
		TEST(test_options),
		TEST(test_options_late),
		TEST(test_localhost_of_ipv6),
		TEST(test_share),
		TEST(test_sharers),
	};

	own_net_enter(); /* no other daemon has ::1 there */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
