/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets themselves: the port, what is asked of the kernel, and what it answers when it
 * cannot. That packets leave with DF and the identification the ICRC was computed with is seen
 * by tests/golden/test_sent_headers.
 */
#include "emu/io/net/udp_socket.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void test_options(void **state)
{
	struct io_address a = io_test_address(1);
	union io_sockaddr sa;
	socklen_t len = sizeof(sa);
	size_t rcvbuf = 0;
	int fd = io_udp_socket_open(&a, true, &rcvbuf);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, &sa.any, &len), 0);
	assert_int_equal(ntohs(sa.v4.sin_port), ROCE_UDP_PORT);
	assert_int_equal(option(fd, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_DO);
	assert_int_equal(option(fd, IPPROTO_UDP, UDP_GRO), 1);
	assert_int_equal(option(fd, SOL_SOCKET, SO_RCVBUF), rcvbuf);
	assert_true(rcvbuf >= 65536);
	close(fd);
}

/* What comes for a group has as much room as what comes for the device. */
static void test_group(void **state)
{
	struct io_address a = io_test_address(1), group = io_test_address(100);
	size_t rcvbuf = 0;
	int own = io_udp_socket_open(&a, true, &rcvbuf), fd;

	(void)state;
	assert_true(own >= 0);
	group.gid[12] = 239;
	fd = io_udp_socket_open_group(&group, &a, true);
	assert_true(fd >= 0);
	assert_int_equal(option(fd, SOL_SOCKET, SO_RCVBUF), rcvbuf);
	close(fd);
	close(own);
}

/* Groups of one interface or link are joined on the interface of the device's address. */
static void test_narrow_group(void **state)
{
	static const char *const groups[] = {"ff01::7", "ff02::7", "ff12::7", "ff0e::7"};
	struct io_address a = {0};

	(void)state;
	assert_int_equal(io_address_parse("::1", &a), 0);
	for (unsigned i = 0; i < 4; i++) {
		struct io_address group = {0};
		union io_sockaddr sa;
		socklen_t len = sizeof(sa);
		int fd;

		assert_int_equal(inet_pton(AF_INET6, groups[i], group.gid), 1);
		fd = io_udp_socket_open_group(&group, &a, true);
		assert_true(fd >= 0);
		assert_int_equal(getsockname(fd, &sa.any, &len), 0);
		assert_memory_equal(&sa.v6.sin6_addr, group.gid, 16);
		assert_int_equal(sa.v6.sin6_scope_id, i < 3 ? if_nametoindex("lo") : 0);
		close(fd);
	}
}

static void test_port_is_taken(void **state)
{
	struct io_address a = io_test_address(1);
	size_t rcvbuf;
	int fd = io_udp_socket_open(&a, false, &rcvbuf);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_udp_socket_open(&a, false, &rcvbuf), -EADDRINUSE);
	close(fd);
}

static void test_no_such_address(void **state)
{
	struct io_address a;
	size_t rcvbuf;

	(void)state;
	assert_int_equal(io_address_parse("203.0.113.254", &a), 0);
	assert_int_equal(io_udp_socket_open(&a, false, &rcvbuf), -EADDRNOTAVAIL);
	assert_int_equal(io_udp_socket_open_flow(&a, 0xc000), -EADDRNOTAVAIL);
}

/* Receive offload hands over a segmented send as one buffer and says the segments' length. */
static void test_segment_length(void **state)
{
	struct io_address from = io_test_address(1);
	struct io_address to = io_test_address(2);
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(&to, ROCE_UDP_PORT, &sa);
	static uint8_t data[1000];
	size_t rcvbuf;
	int receiver = io_udp_socket_open(&to, true, &rcvbuf);
	int fd = io_udp_socket_open_flow(&from, 0xc000);
	int segment = 300;
	char control[IO_UDP_CONTROL];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct io_udp_ancillary a;

	(void)state;
	assert_true(fd >= 0 && receiver >= 0);
	assert_int_equal(setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	assert_int_equal(sendto(fd, data, sizeof(data), 0, &sa.any, len), sizeof(data));
	assert_int_equal(recvmsg(receiver, &msg, 0), sizeof(data));
	io_udp_socket_ancillary(&msg, &a);
	assert_int_equal(a.segment, 300);
	assert_int_equal(a.hop_limit, 64);
	assert_int_equal(a.tclass, 0);
	close(fd);
	close(receiver);
}

/* What a packet's header said is known of each, with either family. False: it cannot be tried. */
static bool check_header(const struct io_address *from, const struct io_address *to)
{
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(to, ROCE_UDP_PORT, &sa);
	bool v4 = sa.any.sa_family == AF_INET;
	int level = v4 ? IPPROTO_IP : IPPROTO_IPV6, hops = 17, class = 0x28;
	size_t rcvbuf;
	int receiver = io_udp_socket_open(to, false, &rcvbuf);
	int fd = io_udp_socket_open_flow(from, 0xc000);
	char control[IO_UDP_CONTROL], byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct io_udp_ancillary a;

	if (fd < 0 || receiver < 0) {
		close(fd >= 0 ? fd : receiver);
		return false;
	}
	assert_int_equal(
		setsockopt(fd, level, v4 ? IP_TTL : IPV6_UNICAST_HOPS, &hops, sizeof(hops)), 0);
	assert_int_equal(setsockopt(fd, level, v4 ? IP_TOS : IPV6_TCLASS, &class, sizeof(class)),
			 0);
	assert_int_equal(sendto(fd, "", 1, 0, &sa.any, len), 1);
	assert_int_equal(recvmsg(receiver, &msg, 0), 1);
	io_udp_socket_ancillary(&msg, &a);
	assert_int_equal(a.hop_limit, hops);
	assert_int_equal(a.tclass, class);
	assert_int_equal(a.segment, 0);
	close(fd);
	close(receiver);
	return true;
}

static void test_header(void **state)
{
	struct io_address a = io_test_address(1), b = io_test_address(2);

	(void)state;
	assert_true(check_header(&a, &b));
}

static void test_header_v6(void **state)
{
	struct io_address a;

	(void)state;
	assert_int_equal(io_address_parse("::1", &a), 0);
	if (!check_header(&a, &a))
		skip(); /* no IPv6 here, or its port is taken */
}

/* What the kernel threw away because nobody received is told with the next datagram. */
static void test_overflow(void **state)
{
	struct io_address from = io_test_address(1);
	struct io_address to = io_test_address(2);
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(&to, ROCE_UDP_PORT, &sa);
	uint8_t data[1000] = {0};
	size_t rcvbuf;
	int receiver = io_udp_socket_open(&to, false, &rcvbuf);
	int fd = io_udp_socket_open_flow(&from, 0xc000);
	int little = 4096;
	char control[IO_UDP_CONTROL];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
	struct io_udp_ancillary a = {.overflow = 0};

	(void)state;
	assert_int_equal(setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_true(sendto(fd, data, sizeof(data), 0, &sa.any, len) > 0);
	for (unsigned i = 0; i < 200 && a.overflow == 0; i++) {
		sendto(fd, data, sizeof(data), 0, &sa.any, len);
		msg.msg_controllen = sizeof(control);
		assert_true(recvmsg(receiver, &msg, 0) > 0);
		io_udp_socket_ancillary(&msg, &a);
	}
	assert_true(a.overflow_valid && a.overflow > 0);
	close(fd);
	close(receiver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),      cmocka_unit_test(test_port_is_taken),
		cmocka_unit_test(test_group),        cmocka_unit_test(test_no_such_address),
		cmocka_unit_test(test_narrow_group), cmocka_unit_test(test_segment_length),
		cmocka_unit_test(test_overflow),     cmocka_unit_test(test_header),
		cmocka_unit_test(test_header_v6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
