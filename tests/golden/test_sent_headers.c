/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel puts in front of our packets, seen on an interface and not by a socket: DF, the
 * identification that the ICRC covers, hop limit, traffic class, ports. The ICRC is verified with
 * the header that was really sent, as soft-RoCE and adapters do it. And the other way: packets
 * with a UDP checksum of zero, as soft-RoCE sends them, reach our socket.
 *
 * Runs in a network namespace of its own; ends with 77 and says why where there is none to be had.
 */
#include "emu/io/net/udp_socket.h"
#include "emu/io/net/udp_tx.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/own_net.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/icrc.h"
#include "wire/udpip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#endif

#define PORT    0xc001
#define SECONDS 20
#define TOS     0x68

static struct prng rng;
static uint8_t payload[65536];

/* ---- a network of our own ---- */

static bool ethtool(int fd, void *command)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_data = command};

	return ioctl(fd, SIOCETHTOOL, &r) == 0;
}

static struct ethtool_gstrings *feature_names(int fd)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count; /* info.data[0] */
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};
	struct ethtool_gstrings *s;

	if (!ethtool(fd, &set) || set.info.sset_mask == 0)
		return NULL;
	s = calloc(1, sizeof(*s) + (size_t)set.count * ETH_GSTRING_LEN);
	assert_non_null(s);
	s->cmd = ETHTOOL_GSTRINGS;
	s->string_set = ETH_SS_FEATURES;
	s->len = set.count;
	if (ethtool(fd, s))
		return s;
	free(s);
	return NULL;
}

static bool feature_off(int fd, uint32_t bit)
{
	union {
		struct ethtool_sfeatures s;
		uint8_t room[sizeof(struct ethtool_sfeatures) +
			     4 * sizeof(struct ethtool_set_features_block)];
	} set = {.s = {.cmd = ETHTOOL_SFEATURES, .size = bit / 32 + 1}};

	if (bit / 32 >= 4)
		return false;
	set.s.features[bit / 32].valid = 1u << bit % 32;
	return ethtool(fd, &set);
}

/* The interface takes a segmented send as a whole unless it is told that it cannot. */
static bool segment_before_sending(int fd)
{
	struct ethtool_gstrings *names = feature_names(fd);
	bool done = false;

	for (uint32_t i = 0; names && i < names->len; i++)
		if (strncmp((char *)names->data + (size_t)i * ETH_GSTRING_LEN,
			    "tx-udp-segmentation", ETH_GSTRING_LEN) == 0)
			done = feature_off(fd, i);
	free(names);
	return done;
}

static bool enter_namespace(void)
{
	bool ok = false;
	int fd;

	if (!own_net_enter()) {
		printf("no network namespace to be had: %s\n", strerror(errno));
		return false;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		ok = segment_before_sending(fd);
		if (!ok)
			printf("cannot set up lo: %s\n", strerror(errno));
		close(fd);
	}
	return ok;
}

/* ---- sending and seeing ---- */

struct fixture {
	struct io_address from, to;
	int fd, tap;
	bool v4;
	struct roce_flow flow;
};

/* Sees what arrives at lo, from the IP header on. */
static int open_tap(bool v4)
{
	uint16_t protocol = htons(v4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = protocol,
				 .sll_ifindex = (int)if_nametoindex("lo")};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
	int size = 8 << 20;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void open_fixture(struct fixture *f, const char *from, const char *to)
{
	f->v4 = strchr(from, '.') != NULL;
	assert_int_equal(io_address_parse(from, &f->from), 0);
	assert_int_equal(io_address_parse(to, &f->to), 0);
	f->fd = io_udp_socket_open_flow(&f->from, PORT);
	assert_true(f->fd >= 0);
	f->tap = open_tap(f->v4);
	f->flow = burst_gen_flow(f->from.gid, f->to.gid, PORT);
	f->flow.tclass = TOS;
	f->flow.hop_limit = 64;
}

static void close_fixture(struct fixture *f)
{
	close(f->fd);
	close(f->tap);
}

/* The next packet to the RoCEv2 port; what else the interface carries is nobody's business. */
static size_t see(const struct fixture *f, uint8_t *buf, size_t cap, uint16_t *ident)
{
	for (;;) {
		struct pollfd p = {.fd = f->tap, .events = POLLIN};
		struct roce_flow flow;
		size_t size;
		ssize_t n;

		assert_int_equal(poll(&p, 1, 1000 * SECONDS), 1);
		n = recv(f->tap, buf, cap, 0);
		assert_true(n > 0);
		if (roce_udpip_parse(buf, (size_t)n, &flow, ident, &size) &&
		    flow.dport == ROCE_UDP_PORT)
			return (size_t)n;
	}
}

static void check_ipv4(const uint8_t *ip, uint16_t ident, uint16_t expected)
{
	assert_int_equal(ident, expected);
	assert_int_equal(ip[6], 0x40); /* DF, no fragment */
	assert_int_equal(ip[7], 0);
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(roce_ipv4_checksum(ip), 0);
}

static void check_packet(const struct fixture *f, uint16_t expected)
{
	uint8_t buf[9000];
	struct roce_flow flow;
	uint16_t ident;
	size_t size;
	size_t len = see(f, buf, sizeof(buf), &ident);
	size_t head = roce_udpip_parse(buf, len, &flow, &ident, &size);

	if (f->v4)
		check_ipv4(buf, ident, expected);
	assert_memory_equal(flow.src, f->from.gid, 16);
	assert_memory_equal(flow.dst, f->to.gid, 16);
	assert_int_equal(flow.sport, PORT);
	assert_int_equal(flow.tclass, TOS);
	assert_int_equal(flow.hop_limit, 64);
	assert_true(roce_icrc_check(&flow, ident, buf + head, size));
}

static void send_burst(const struct fixture *f, struct core_burst *t, bool gso)
{
	struct io_udp_tx tx = {.burst = t, .fd = f->fd, .sport = PORT, .dst = f->to, .gso = gso};
	uint64_t packets = 0;
	int error = 0;

	t->flow = f->flow;
	assert_int_equal(io_udp_tx_run(&tx, &packets, &error), IO_UDP_TX_DONE);
	assert_int_equal(packets, t->count);
}

/* A message of 24 packets: one send with segmentation, else 24. */
static void check_message(const struct fixture *f, bool gso)
{
	struct core_burst t;

	burst_gen_message(&rng, &burst_gen_messages[0], 1024, 24 * 1024, payload, &t);
	send_burst(f, &t, gso);
	assert_int_equal(t.count, 24);
	for (uint32_t i = 0; i < t.count; i++)
		check_packet(f, gso ? (uint16_t)i : 0);
}

static void check_singles(const struct fixture *f)
{
	for (unsigned op = 0; op < 256; op++) {
		struct core_burst t;

		if (!burst_gen_exists(op))
			continue;
		burst_gen_single(&rng, (roce_opcode){(uint8_t)op}, &f->flow, &t);
		send_burst(f, &t, false);
		check_packet(f, 0);
	}
}

static void check_all(const char *from, const char *to)
{
	struct fixture f;

	open_fixture(&f, from, to);
	check_singles(&f);
	check_message(&f, false);
	check_message(&f, true);
	check_message(&f, true); /* counts from 0 again */
	close_fixture(&f);
}

static void test_ipv4(void **state)
{
	(void)state;
	check_all("127.0.0.2", "127.0.0.3");
}

static void need_ipv6(void)
{
	if (access("/proc/net/if_inet6", F_OK) == 0)
		return;
	printf("this kernel has no IPv6\n");
	skip();
}

static void test_ipv6(void **state)
{
	(void)state;
	need_ipv6();
	check_all("::1", "::1");
}

/* One datagram with a UDP checksum of zero, as soft-RoCE sends them, over this family. */
static void expect_without_checksum(const struct io_address *to, int level, int name)
{
	const int on = 1;
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(to, ROCE_UDP_PORT, &sa);
	struct pollfd p = {.events = POLLIN};
	size_t rcvbuf;
	char buf[16];
	int fd;

	p.fd = io_udp_socket_open(to, true, &rcvbuf);
	assert_true(p.fd >= 0);
	fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, level, name, &on, sizeof(on)), 0);
	assert_int_equal(sendto(fd, "zero", 4, 0, &sa.any, len), 4);
	assert_int_equal(poll(&p, 1, 1000 * SECONDS), 1);
	assert_int_equal(recv(p.fd, buf, sizeof(buf), 0), 4);
	assert_memory_equal(buf, "zero", 4);
	close(fd);
	close(p.fd);
}

static void test_zero_checksum_v4(void **state)
{
	struct io_address to;

	(void)state;
	assert_int_equal(io_address_parse("127.0.0.1", &to), 0);
	expect_without_checksum(&to, SOL_SOCKET, SO_NO_CHECK);
}

static void test_zero_checksum_v6(void **state)
{
	struct io_address to;

	(void)state;
	need_ipv6();
	assert_int_equal(io_address_parse("::1", &to), 0);
	expect_without_checksum(&to, IPPROTO_UDP, UDP_NO_CHECK6_TX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_zero_checksum_v4),
		cmocka_unit_test(test_zero_checksum_v6),
	};

	if (!enter_namespace())
		return 77;
	rng = prng_start("test_sent_headers");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests_name("sent_headers", tests, NULL, NULL);
}
