/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses of the rdma_cm interface: read, written, and what this host says to them. */
#include "emu/io/ucma/ucma_addr.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/udpip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The kernel's struct sockaddr_ib, byte for byte. */
static const uint8_t ib[48] = {
	[0] = AF_IB,
	[2] = 0xff,
	[3] = 0xff,
	[8] = 0xfe,
	[9] = 0x80,
	[23] = 9,
	/* port space, port */
	[28] = 0x01,
	[29] = 0x06,
	[30] = 0x1c,
	[31] = 0x07,
	[32] = 0xff,
	[33] = 0xff,
	[34] = 0xff,
	[35] = 0xff,
	[36] = 0xff,
	[37] = 0xff,
	[38] = 0xff,
	[39] = 0xff,
};

static struct sockaddr_in v4(const char *text, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	assert_int_equal(inet_pton(AF_INET, text, &a.sin_addr), 1);
	return a;
}

static struct ucma_addr parsed_v4(const char *text, uint16_t port)
{
	struct sockaddr_in sa = v4(text, port);
	struct ucma_addr a;

	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa), &a), 0);
	return a;
}

static struct ucma_addr parsed_v6(const char *text)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6};
	struct ucma_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &sa.sin6_addr), 1);
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa), &a), 0);
	return a;
}

static void test_ipv4(void **state)
{
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
	struct sockaddr_in sa = v4("192.0.2.7", 7471);
	struct ucma_addr a;
	uint8_t out[128];

	(void)state;
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa), &a), 0);
	assert_int_equal(a.family, AF_INET);
	assert_memory_equal(a.gid, gid, 16);
	assert_int_equal(a.port, 7471);
	assert_int_equal(ucma_addr_emit(&a, out), sizeof(sa));
	assert_memory_equal(out, &sa, sizeof(sa));
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa) - 1, &a), -EINVAL);
}

/* A link-local address is not one without its interface. */
static void test_ipv6(void **state)
{
	struct sockaddr_in6 sa = {
		.sin6_family = AF_INET6, .sin6_port = htons(18515), .sin6_scope_id = 3};
	struct ucma_addr a;
	uint8_t out[128];

	(void)state;
	assert_int_equal(inet_pton(AF_INET6, "fe80::1:2", &sa.sin6_addr), 1);
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa), &a), 0);
	assert_int_equal(a.family, AF_INET6);
	assert_memory_equal(a.gid, &sa.sin6_addr, 16);
	assert_int_equal(a.port, 18515);
	assert_int_equal(a.scope, 3);
	assert_int_equal(ucma_addr_emit(&a, out), sizeof(sa));
	assert_memory_equal(out, &sa, sizeof(sa));
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa) - 1, &a), -EINVAL);
}

static void test_af_ib(void **state)
{
	struct ucma_addr a;
	uint8_t out[128];

	(void)state;
	assert_int_equal(ucma_addr_parse(ib, sizeof(ib), &a), 0);
	assert_int_equal(a.family, AF_IB);
	assert_memory_equal(a.gid, ib + 8, 16);
	assert_int_equal(a.sid, 0x01061c07);
	assert_int_equal(a.sid_mask, UINT64_MAX);
	assert_int_equal(a.port, 0x1c07);
	assert_int_equal(ucma_addr_emit(&a, out), sizeof(ib));
	assert_memory_equal(out, ib, sizeof(ib));
	assert_int_equal(ucma_addr_parse(ib, sizeof(ib) - 1, &a), -EINVAL);
}

/* What is no address has no form either. */
static void test_others(void **state)
{
	struct sockaddr_in sa = v4("192.0.2.7", 1);
	struct ucma_addr a = {0};
	uint8_t out[128];

	(void)state;
	assert_int_equal(ucma_addr_emit(&a, out), 0);
	sa.sin_family = AF_UNIX;
	assert_int_equal(ucma_addr_parse(&sa, sizeof(sa), &a), -EINVAL);
}

static void test_kinds(void **state)
{
	const struct ucma_addr any = parsed_v4("0.0.0.0", 1), local = parsed_v4("127.0.0.1", 1);
	const struct ucma_addr near = parsed_v4("127.0.0.2", 1), any6 = parsed_v6("::");
	const struct ucma_addr local6 = parsed_v6("::1"), far6 = parsed_v6("2001:db8::1");

	(void)state;
	assert_true(ucma_addr_is_any(&any) && ucma_addr_is_any(&any6));
	assert_false(ucma_addr_is_any(&local) || ucma_addr_is_any(&local6));
	assert_true(ucma_addr_is_localhost(&local) && ucma_addr_is_localhost(&local6));
	assert_false(ucma_addr_is_localhost(&near) || ucma_addr_is_localhost(&far6));
	assert_false(ucma_addr_is_localhost(&any) || ucma_addr_is_localhost(&any6));
	assert_true(roce_addr_is_v4(near.gid));
	assert_false(roce_addr_is_v4(far6.gid));
}

/* Who holds RoCEv2's port of an address is a device. */
static void test_has_device(void **state)
{
	struct sockaddr_in sa = v4("127.9.8.7", 4791);
	const struct ucma_addr here = parsed_v4("127.9.8.7", 0);
	const struct ucma_addr nowhere = parsed_v4("192.0.2.1", 0);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_false(ucma_addr_has_device(&here));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_true(ucma_addr_has_device(&here));
	assert_false(ucma_addr_has_device(&nowhere)); /* it cannot be bound, but nobody has it */
	close(fd);
	assert_false(ucma_addr_has_device(&here));
}

static struct ucma_addr parsed(const char *text)
{
	return strchr(text, ':') ? parsed_v6(text) : parsed_v4(text, 1);
}

/* What is sent from a loopback address leaves no host; any other may arrive anywhere. */
static void test_reached(void **state)
{
	static const struct {
		const char *from, *to;
		bool reached;
	} row[] = {
		{"127.0.0.1", "127.9.8.7", true},
		{"127.0.0.1", "224.0.0.5", true},
		{"127.0.0.1", "192.0.2.7", false},
		{"127.0.0.1", "2001:db8::7", false},
		{"::1", "::1", true},
		{"::1", "ff02::5", true},
		{"::1", "2001:db8::7", false},
		{"::1", "fe80::7", false},
		{"192.0.2.1", "192.0.2.7", true},
		{"192.0.2.1", "127.0.0.1", true},
		{"2001:db8::1", "fe80::7", true},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct ucma_addr to = parsed(row[i].to), from = parsed(row[i].from);

		assert_int_equal(ucma_addr_is_reached(&to, from.gid), row[i].reached);
	}
}

static void test_source(void **state)
{
	const struct ucma_addr to = parsed_v4("127.0.0.1", 1);
	uint8_t gid[16] = {0};

	(void)state;
	assert_int_equal(ucma_addr_source_for(&to, gid), 0);
	assert_memory_equal(gid, to.gid, 16);
}

static void test_of_host(void **state)
{
	const char *const no[] = {"224.0.0.5", "203.0.113.77"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct ucma_addr a = parsed_v4(no[i], 1);

		assert_false(ucma_addr_is_of_host(&a));
	}
	for (unsigned port = 0; port < 2; port++) { /* which is not asked for */
		const struct ucma_addr a = parsed_v4("127.99.9.7", (uint16_t)port);

		assert_true(ucma_addr_is_of_host(&a));
	}
}

/* Who cannot be asked is not known: where no route leads, and without a descriptor to ask by. */
static void test_no_answer(void **state)
{
	const struct ucma_addr to = parsed_v4("127.0.0.1", 1);
	const struct ucma_addr nowhere = parsed_v4("255.255.255.255", 1);
	uint8_t gid[16] = {7};
	const LargestIntegralType refusals[] = {ENETUNREACH, EACCES};
	struct rlimit old, soft;

	(void)state;
	/* without a route or, a broadcast, without SO_BROADCAST */
	assert_in_set(-ucma_addr_source_for(&nowhere, gid), refusals, 2);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	soft = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &soft), 0);
	assert_false(ucma_addr_has_device(&to));
	assert_int_equal(ucma_addr_source_for(&to, gid), -EMFILE);
	assert_false(ucma_addr_is_of_host(&to));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(gid[0], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),       cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_af_ib),      cmocka_unit_test(test_others),
		cmocka_unit_test(test_kinds),      cmocka_unit_test(test_source),
		cmocka_unit_test(test_has_device), cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_reached),    cmocka_unit_test(test_of_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
