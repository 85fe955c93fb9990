/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending: every opcode and messages of many packets, over IPv4 and IPv6, with and without
 * segmentation offload, arrive on an ordinary socket as the packets that the burst stands for,
 * each with an ICRC over the identification that the kernel gives it: 0, 1, 2, ... in each
 * segmented send, 0 for packets that are sent alone.
 */
#include "emu/io/net/udp_socket.h"
#include "emu/io/net/udp_tx.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/icrc.h"
#include "wire/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct prng rng;
static uint8_t payload[65536];
static uint8_t gathered[65536];

struct fixture {
	struct io_address from;
	struct io_address to;
	int fd;       /* sends */
	int receiver; /* no receive offload: the kernel cuts segmented sends for it */
	struct roce_flow flow;
};

static void open_pair(struct fixture *f, bool v6)
{
	size_t rcvbuf;

	f->from = io_test_address(1);
	f->to = io_test_address(2);
	if (v6) {
		io_address_parse("::1", &f->from);
		f->to = f->from;
	}
	f->fd = io_udp_socket_open_flow(&f->from, 0xc001);
	f->receiver = io_udp_socket_open(&f->to, false, &rcvbuf);
	f->flow = burst_gen_flow(f->from.gid, f->to.gid, 0xc001);
}

static int setup_v4(void **state)
{
	static struct fixture f;

	open_pair(&f, false);
	assert_true(f.fd >= 0 && f.receiver >= 0);
	*state = &f;
	return 0;
}

/* The RoCEv2 port of ::1 may belong to somebody; then this machine cannot run the test now. */
static int setup_v6(void **state)
{
	static struct fixture f;

	open_pair(&f, true);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	close(f->receiver);
	return 0;
}

static size_t receive(const struct fixture *f, uint8_t *buf, size_t cap)
{
	struct pollfd p = {.fd = f->receiver, .events = POLLIN};
	ssize_t n;

	assert_int_equal(poll(&p, 1, 1000 * IO_TEST_SECONDS), 1);
	n = recv(f->receiver, buf, cap, MSG_DONTWAIT);
	assert_true(n > ROCE_ICRC_LENGTH);
	return (size_t)n;
}

/* Receives packet i of the burst; returns its identification. */
static uint16_t expect_packet(const struct fixture *f, const struct core_burst *t, uint32_t i)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH + 1];
	size_t len = receive(f, buf, sizeof(buf));
	struct roce_packet expected;
	struct roce_packet got;
	uint32_t offset;
	uint16_t ident;

	assert_true(roce_icrc_solve_ident(&f->flow, buf, len, &ident));
	assert_int_equal(roce_packet_parse(buf, len - ROCE_ICRC_LENGTH, &got), ROCE_PARSE_OK);
	core_burst_packet(t, i, &expected, &offset);
	burst_gen_assert_packet(&got, &expected, gathered + offset);
	return ident;
}

static void send_burst(const struct fixture *f, struct core_burst *t, bool gso)
{
	struct io_udp_tx tx = {.burst = t, .fd = f->fd, .sport = 0xc001, .dst = f->to, .gso = gso};
	uint64_t packets = 0;
	int error = 0;

	t->flow = f->flow;
	burst_gen_gather(t, gathered);
	assert_int_equal(io_udp_tx_run(&tx, &packets, &error), IO_UDP_TX_DONE);
	assert_int_equal(packets, t->count);
}

static void check_burst(const struct fixture *f, struct core_burst *t, bool gso)
{
	uint16_t before = 0;

	send_burst(f, t, gso);
	for (uint32_t i = 0; i < t->count; i++) {
		uint16_t ident = expect_packet(f, t, i);

		if (gso && ident != 0)
			assert_int_equal(ident, before + 1);
		else
			assert_int_equal(ident, 0);
		before = ident;
	}
}

static void every_opcode(const struct fixture *f, bool gso)
{
	for (unsigned op = 0; op < 256; op++) {
		struct core_burst t;

		if (!burst_gen_exists(op))
			continue;
		burst_gen_single(&rng, (roce_opcode){(uint8_t)op}, &f->flow, &t);
		check_burst(f, &t, gso);
	}
}

static void every_message(const struct fixture *f, bool gso)
{
	static const uint32_t mtu[] = {256, 512, 1024, 2048, 4096};

	prng_fill(&rng, payload, sizeof(payload));
	for (unsigned m = 0; m < burst_gen_messages_count; m++) {
		for (unsigned k = 0; k < 5; k++) {
			uint32_t most = 65536 - mtu[k];
			uint32_t length = mtu[k] + 1 + prng_below(&rng, most);
			struct core_burst t;

			burst_gen_message(&rng, &burst_gen_messages[m], mtu[k], length, payload,
					  &t);
			check_burst(f, &t, gso);
		}
	}
}

static void test_opcodes(void **state)
{
	every_opcode(*state, false);
	every_opcode(*state, true);
}

static void test_messages(void **state)
{
	every_message(*state, false);
	every_message(*state, true);
}

/* With segmentation a message of equal packets is a few sends. */
static void test_segments_are_used(void **state)
{
	const struct fixture *f = *state;
	struct core_burst t;
	unsigned starts = 0;

	burst_gen_message(&rng, &burst_gen_messages[0], 1024, 61440, payload, &t);
	send_burst(f, &t, true);
	for (uint32_t i = 0; i < t.count; i++)
		starts += expect_packet(f, &t, i) == 0;
	assert_int_equal(starts, 1);
}

static void test_v6(void **state)
{
	const struct fixture *f = *state;

	if (f->receiver < 0)
		skip(); /* no IPv6 here, or its port is taken */
	every_opcode(f, false);
	every_message(f, false);
	every_message(f, true);
}

/* Traffic class and hop limit of the flow are those of the packets. */
static void test_ancillary(void **state)
{
	struct fixture *f = *state;
	char control[IO_UDP_CONTROL];
	uint8_t buf[8192];
	struct iovec iov = {buf, sizeof(buf)};
	struct io_udp_ancillary a;
	struct core_burst t;
	struct io_udp_tx tx = {.burst = &t, .fd = f->fd, .sport = 0xc001, .dst = f->to};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	uint64_t packets = 0;
	int error;

	burst_gen_single(&rng, (roce_opcode){ROCE_UD_SEND_ONLY}, &f->flow, &t);
	t.flow.tclass = 0x6a; /* with ECN bits */
	t.flow.hop_limit = 17;
	assert_int_equal(io_udp_tx_run(&tx, &packets, &error), IO_UDP_TX_DONE);
	assert_true(recvmsg(f->receiver, &msg, 0) > 0);
	io_udp_socket_ancillary(&msg, &a);
	assert_int_equal(a.tclass, 0x6a);
	assert_int_equal(a.hop_limit, 17);
	assert_int_equal(a.segment, 0);
}

static void test_errors(void **state)
{
	struct fixture *f = *state;
	struct core_burst t;
	struct io_udp_tx tx = {.burst = &t, .fd = f->fd, .sport = 0xc001};
	uint64_t packets = 0;
	int error = 0;

	/* from a loopback address there is no way to elsewhere */
	io_address_parse("203.0.113.9", &tx.dst);
	burst_gen_single(&rng, (roce_opcode){ROCE_RC_SEND_ONLY}, &f->flow, &t);
	assert_int_equal(io_udp_tx_run(&tx, &packets, &error), IO_UDP_TX_ERROR);
	assert_int_not_equal(error, 0);
	assert_int_equal(packets, 0);
	assert_int_equal(tx.next, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_v4, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_opcodes),
		TEST(test_messages),
		TEST(test_segments_are_used),
		TEST(test_ancillary),
		TEST(test_errors),
		cmocka_unit_test_setup_teardown(test_v6, setup_v6, teardown),
	};

	rng = prng_start("test_udp_tx");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
