/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses: texts, GIDs and socket addresses of both families; which addresses a device cannot
 * have; defaults; GUIDs that do not collide.
 */
#include "emu/io/base/address.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <ifaddrs.h>
#include <string.h>

static struct io_address parse(const char *text)
{
	struct io_address a;

	assert_int_equal(io_address_parse(text, &a), 0);
	return a;
}

static void test_texts(void **state)
{
	static const char *const good[] = {"127.0.0.1", "192.0.2.77", "::1", "2001:db8::5"};
	char text[IO_ADDRESS_TEXT];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(io_address_format(parse(good[i]).gid, text), good[i]);
	/* the mapped form is the IPv4 address */
	assert_string_equal(io_address_format(parse("::ffff:192.0.2.1").gid, text), "192.0.2.1");
}

static void test_bad_texts(void **state)
{
	static const char *const bad[] = {
		"",
		"localhost",
		"127.0.0",
		"127.0.0.1.1",
		"127.0.0.256",
		"0.0.0.0",
		"::",
		"224.0.0.1",
		"255.255.255.255",
		"ff02::1",
		"127.0.0.1 ",
		"1::2::3",
		"127.0.0.1%lo",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc",
	};
	struct io_address a;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(io_address_parse(bad[i], &a), -EINVAL);
	assert_int_equal(io_address_parse("fe80::1%nosuchif", &a), -ENODEV);
}

static void test_mapped_gid(void **state)
{
	static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, 10, 1, 2, 3};

	(void)state;
	assert_memory_equal(parse("10.1.2.3").gid, gid, 16);
}

static void test_scope(void **state)
{
	union io_sockaddr sa;
	struct io_address a = parse("fe80::7%lo");

	(void)state;
	assert_int_equal(a.scope, if_nametoindex("lo"));
	io_address_to_sockaddr(&a, 1, &sa);
	assert_int_equal(sa.v6.sin6_scope_id, a.scope);
	/* only a link-local address has one */
	a = parse("2001:db8::1");
	a.scope = 5;
	io_address_to_sockaddr(&a, 1, &sa);
	assert_int_equal(sa.v6.sin6_scope_id, 0);
}

static void test_socket_addresses(void **state)
{
	static const char *const text[] = {"192.0.2.9", "2001:db8::9"};
	union io_sockaddr sa;
	uint8_t gid[16];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct io_address a = parse(text[i]);
		socklen_t len = io_address_to_sockaddr(&a, 4791, &sa);

		assert_int_equal(len, i ? sizeof(sa.v6) : sizeof(sa.v4));
		assert_int_equal(ntohs(i ? sa.v6.sin6_port : sa.v4.sin_port), 4791);
		io_address_from_sockaddr(&sa, gid);
		assert_memory_equal(gid, a.gid, 16);
	}
}

/* Some interfaces have no address at all (getifaddrs(3)), as tunnels that are not up. */
static struct ifaddrs without, *ahead;

int __real_getifaddrs(struct ifaddrs **list);
void __real_freeifaddrs(struct ifaddrs *list);
int __wrap_getifaddrs(struct ifaddrs **list);
void __wrap_freeifaddrs(struct ifaddrs *list);

int __wrap_getifaddrs(struct ifaddrs **list)
{
	int err = __real_getifaddrs(list);

	if (err || !ahead)
		return err;
	without = (struct ifaddrs){.ifa_next = *list, .ifa_name = (char *)(uintptr_t) "tun0"};
	*list = &without;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list)
{
	__real_freeifaddrs(list == &without ? without.ifa_next : list);
}

static void test_interface_without_address(void **state)
{
	struct io_address loopback = parse("::1"), nobody = parse("2001:db8::7");
	char name[IF_NAMESIZE];
	bool has_ipv6 = io_address_interface(&loopback, name);

	(void)state;
	ahead = &without;
	assert_false(io_address_interface(&nobody, name));
	assert_int_equal(io_address_interface(&loopback, name), has_ipv6);
	ahead = NULL;
}

static void test_defaults(void **state)
{
	struct io_address_list list;
	char text[IO_ADDRESS_TEXT];

	(void)state;
	io_address_default(0, &list);
	assert_in_range(list.count, 1, 2);
	assert_string_equal(io_address_format(list.a[0].gid, text), "127.0.0.1");
	if (list.count == 2)
		assert_string_equal(io_address_format(list.a[1].gid, text), "::1");
	io_address_default(1, &list);
	assert_int_equal(list.count, 1);
	assert_string_equal(io_address_format(list.a[0].gid, text), "127.0.0.2");
	io_address_default(300, &list);
	assert_string_equal(io_address_format(list.a[0].gid, text), "127.0.1.45");
}

static void test_interfaces(void **state)
{
	struct io_address_list list;
	char text[IO_ADDRESS_TEXT];
	char name[IF_NAMESIZE];
	struct io_address a = parse("127.9.9.9");
	struct io_address nobody = parse("203.0.113.254");

	(void)state;
	assert_int_equal(io_address_of_interface("nosuchif", &list), -ENODEV);
	assert_int_equal(io_address_of_interface("lo", &list), 0);
	assert_string_equal(io_address_format(list.a[0].gid, text), "127.0.0.1");
	assert_true(io_address_interface(&a, name));
	assert_string_equal(name, "lo");
	assert_false(io_address_interface(&nobody, name));
	a = parse("::1");
	memset(name, '?', sizeof(name));
	if (io_address_interface(&a, name)) /* not where IPv6 is off */
		assert_string_equal(name, "lo");
	else
		assert_int_equal(name[0], '?');
	assert_in_range(io_address_mtu("lo"), 1280, 65536);
	assert_int_equal(io_address_mtu("nosuchif"), 0);
}

/* enum ibv_mtu: 1 is 256, 5 is 4096 bytes */
static void test_path_mtu(void **state)
{
	(void)state;
	assert_int_equal(io_address_path_mtu(65536), 5);
	assert_int_equal(io_address_path_mtu(9000), 5);
	assert_int_equal(io_address_path_mtu(4096 + 88), 5);
	assert_int_equal(io_address_path_mtu(4096 + 87), 4);
	assert_int_equal(io_address_path_mtu(1500), 3);
	assert_int_equal(io_address_path_mtu(1280), 3);
	assert_int_equal(io_address_path_mtu(576), 1);
	assert_int_equal(io_address_path_mtu(100), 1);
}

static void test_guids(void **state)
{
	struct io_address v4 = parse("127.0.0.1");
	struct io_address other = parse("127.0.0.2");
	struct io_address v6 = parse("2001:db8::7f00:1");
	struct io_address twin = parse("2001:db9::7f00:1");

	(void)state;
	assert_int_equal(io_address_guid(&v4), 0x0275ca007f000001);
	assert_int_equal(io_address_guid(&v4), io_address_guid(&v4));
	assert_int_equal(io_address_guid(&v6), 0x0275ca01ce5afc7b); /* whatever release made it */
	assert_int_not_equal(io_address_guid(&v4), io_address_guid(&other));
	assert_int_not_equal(io_address_guid(&v4), io_address_guid(&v6));
	assert_int_not_equal(io_address_guid(&v6), io_address_guid(&twin));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(test_mapped_gid),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_socket_addresses),
		cmocka_unit_test(test_interface_without_address),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_path_mtu),
		cmocka_unit_test(test_guids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
