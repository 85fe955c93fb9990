/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has a UDP port: this process, at one address or at all, IPv4 or IPv6; or nobody. */
#include "emu/io/net/port_owner.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A socket of ours at the address, at a port that the kernel chooses. */
static int bound(const char *address, uint16_t *port)
{
	union io_sockaddr sa = {.v6 = {.sin6_family = AF_INET6}};
	socklen_t len = sizeof(sa);
	struct io_address a;
	int fd;

	if (strcmp(address, "0.0.0.0") == 0)
		sa.v4 = (struct sockaddr_in){.sin_family = AF_INET};
	else if (strcmp(address, "::") != 0) {
		assert_int_equal(io_address_parse(address, &a), 0);
		len = io_address_to_sockaddr(&a, 0, &sa);
	}
	if (sa.any.sa_family == AF_INET)
		len = sizeof(sa.v4);
	fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, &sa.any, len) < 0) {
		if (fd >= 0)
			close(fd);
		return -1; /* no IPv6 here */
	}
	len = sizeof(sa);
	assert_int_equal(getsockname(fd, &sa.any, &len), 0);
	*port = ntohs(sa.v4.sin_port); /* at the same place in both */
	return fd;
}

static void expect(const char *address, uint16_t port, bool everywhere)
{
	struct io_port_owner owner;
	struct io_address a;
	char mine[40];

	assert_int_equal(io_address_parse(address, &a), 0);
	assert_true(io_port_owner_find(&a, port, &owner));
	assert_int_equal(owner.everywhere, everywhere);
	snprintf(mine, sizeof(mine), "(process %d)", (int)getpid());
	assert_non_null(strstr(owner.name, mine));
	assert_non_null(strstr(owner.name, "test_port"));
}

static void expect_none(const char *address, uint16_t port)
{
	struct io_port_owner owner;
	struct io_address a;

	assert_int_equal(io_address_parse(address, &a), 0);
	assert_false(io_port_owner_find(&a, port, &owner));
}

static void test_one_address(void **state)
{
	uint16_t port;
	int fd = bound("127.0.0.9", &port);

	(void)state;
	assert_true(fd >= 0);
	expect("127.0.0.9", port, false);
	expect_none("127.0.0.8", port);
	close(fd);
	expect_none("127.0.0.9", port);
}

static void test_all_addresses(void **state)
{
	uint16_t port;
	int fd = bound("0.0.0.0", &port);

	(void)state;
	assert_true(fd >= 0);
	expect("127.0.0.9", port, true);
	expect("192.0.2.1", port, true);
	close(fd);
}

static void test_ipv6(void **state)
{
	uint16_t port;
	int fd = bound("::1", &port);

	(void)state;
	if (fd < 0)
		return; /* a machine without IPv6: there is nothing to find */
	expect("::1", port, false);
	expect_none("fe80::1", port);
	close(fd);
	fd = bound("::", &port);
	assert_true(fd >= 0);
	expect("2001:db8::1", port, true);
	expect("127.0.0.1", port, true); /* it takes IPv4, too */
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_address),
		cmocka_unit_test(test_all_addresses),
		cmocka_unit_test(test_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
