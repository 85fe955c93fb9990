/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches of packets on a real socket: which packets join to one segmented send, copies that
 * outlive their source, a batch that is taken apart or gives up a message. The receiver works
 * the identification, which is the place in a run, out of the ICRC.
 */
#include "emu/io/net/udp_batch.h"
#include "emu/io/net/udp_socket.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/icrc.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct prng rng;
static uint8_t payload[8192];

struct fixture {
	int fd;
	int receiver;
	struct io_address to;
	struct roce_flow flow;
	struct io_udp_batch b;
	uint64_t sent;
};

static int setup(void **state)
{
	static struct fixture f;
	struct io_address from = io_test_address(1);
	size_t rcvbuf;

	f.to = io_test_address(2);
	f.sent = 0;
	f.fd = io_udp_socket_open_flow(&from, 0xc002);
	f.receiver = io_udp_socket_open(&f.to, false, &rcvbuf);
	assert_true(f.fd >= 0 && f.receiver >= 0);
	f.flow = burst_gen_flow(from.gid, f.to.gid, 0xc002);
	io_udp_batch_begin(&f.b, f.fd, &f.flow, &f.to, true);
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

static struct roce_packet packet(uint32_t psn, uint32_t len)
{
	struct roce_packet p;

	memset(&p, 0, sizeof(p));
	p.bth.opcode.v = ROCE_RC_SEND_ONLY;
	p.bth.psn = psn;
	p.bth.pad = roce_pad(len);
	p.payload_len = len;
	return p;
}

static void add_copy(struct fixture *f, uint32_t psn, uint32_t len)
{
	struct roce_packet p = packet(psn, len);
	uint8_t source[IO_UDP_BATCH_COPY];
	struct iovec iov[2] = {{source, len / 2}, {source + len / 2, len - len / 2}};

	memcpy(source, payload + psn, len);
	io_udp_batch_copy(&f->b, &p, iov, 2);
	memset(source, 0xee, sizeof(source));
}

/* Receives the packet with this PSN and payload; returns its identification. */
static uint16_t expect(struct fixture *f, uint32_t psn, uint32_t len)
{
	struct pollfd p = {.fd = f->receiver, .events = POLLIN};
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];
	struct roce_packet got;
	uint16_t ident;
	ssize_t n;

	assert_int_equal(poll(&p, 1, 1000 * IO_TEST_SECONDS), 1);
	n = recv(f->receiver, buf, sizeof(buf), MSG_DONTWAIT);
	assert_true(n > ROCE_ICRC_LENGTH);
	assert_true(roce_icrc_solve_ident(&f->flow, buf, (size_t)n, &ident));
	assert_int_equal(roce_packet_parse(buf, (size_t)n - ROCE_ICRC_LENGTH, &got), ROCE_PARSE_OK);
	assert_int_equal(got.bth.psn, psn);
	assert_int_equal(got.payload_len, len);
	if (len > 0)
		assert_memory_equal(got.payload, payload + psn, len);
	return ident;
}

static void send_all(struct fixture *f)
{
	int error = 0;

	assert_int_equal(io_udp_batch_send(&f->b, &f->sent, &error), IO_UDP_TX_DONE);
}

static void test_equal_packets_join(void **state)
{
	struct fixture *f = *state;

	while (!io_udp_batch_full(&f->b, 8))
		add_copy(f, f->b.n_packets, 8);
	assert_int_equal(f->b.n_msg, 1);
	send_all(f);
	assert_int_equal(f->sent, IO_UDP_BATCH_PACKETS);
	for (uint32_t i = 0; i < IO_UDP_BATCH_PACKETS; i++)
		assert_int_equal(expect(f, i, 8), i);
}

/* There is room for copies of 16 of the longest packets; they go in two runs, whole. */
static void test_long_copies(void **state)
{
	struct fixture *f = *state;
	uint32_t n = 0;

	for (; !io_udp_batch_full(&f->b, IO_UDP_BATCH_COPY); n++)
		add_copy(f, n, IO_UDP_BATCH_COPY);
	assert_in_range(n, 16, IO_UDP_BATCH_PACKETS - 1);
	assert_true(f->b.end <= f->b.text + sizeof(f->b.text));
	send_all(f);
	assert_int_equal(f->sent, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(expect(f, i, IO_UDP_BATCH_COPY), i % 15);
}

/* Only the last of a run may be shorter. */
static void test_runs(void **state)
{
	static const uint32_t len[] = {100, 100, 50, 50, 200, 200, 0, 0, 1};
	static const uint16_t ident[] = {0, 1, 2, 0, 0, 1, 2, 0, 0};
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 9; i++)
		add_copy(f, i, len[i]);
	assert_int_equal(f->b.n_msg, 5);
	send_all(f);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(expect(f, i, len[i]), ident[i]);
}

static void test_without_segments(void **state)
{
	struct fixture *f = *state;

	io_udp_batch_begin(&f->b, f->fd, &f->flow, &f->to, false);
	for (uint32_t i = 0; i < 10; i++)
		add_copy(f, i, 8);
	assert_int_equal(f->b.n_msg, 10);
	send_all(f);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(expect(f, i, 8), 0);
}

/* Payload that stays where it is, in pieces, as a burst has it. */
static void test_payload_in_place(void **state)
{
	struct fixture *f = *state;
	struct iovec iov[3] = {{payload, 1000}, {payload + 1000, 1}, {payload + 1001, 4000}};
	struct io_udp_source from = {iov, 0};
	struct roce_packet p;

	for (uint32_t psn = 0; psn < 4096; psn += 1024) {
		p = packet(psn, 1024);
		io_udp_batch_add(&f->b, &p, &from);
	}
	send_all(f);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(expect(f, 1024 * i, 1024), i);
}

/* A run is never longer than an IPv4 datagram may be. */
static void test_longest_run(void **state)
{
	struct fixture *f = *state;
	struct iovec iov = {payload, sizeof(payload)};
	struct roce_packet p = packet(0, 4096);

	for (unsigned i = 0; i < 16; i++) {
		struct io_udp_source from = {&iov, 0};

		io_udp_batch_add(&f->b, &p, &from);
	}
	assert_int_equal(f->b.n_msg, 2);
	assert_int_equal(f->b.packets[0], 15);
	send_all(f);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(expect(f, 0, 4096), i % 15);
}

/* The way knows no segments: the rest of the batch goes one by one. */
static void test_split(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 20; i++)
		add_copy(f, i, i < 10 ? 40 : 60);
	io_udp_batch_split(&f->b);
	assert_int_equal(f->b.n_msg, 20);
	send_all(f);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(expect(f, i, i < 10 ? 40 : 60), 0);
}

static void test_split_after_some(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 6; i++)
		add_copy(f, i, i < 3 ? 40 : 60);
	f->b.sent = 1; /* as if the first run had gone */
	io_udp_batch_split(&f->b);
	assert_int_equal(f->b.n_msg, 3);
	send_all(f);
	for (uint32_t i = 3; i < 6; i++)
		assert_int_equal(expect(f, i, 60), 0);
}

static void test_skip(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 5; i++)
		add_copy(f, i, i < 3 ? 40 : 60);
	assert_int_equal(io_udp_batch_skip(&f->b), 3);
	send_all(f);
	assert_int_equal(f->sent, 2);
	assert_int_equal(expect(f, 3, 60), 0);
	assert_int_equal(expect(f, 4, 60), 1);
}

static void test_errors(void **state)
{
	struct fixture *f = *state;
	struct io_address nowhere;
	int error = 0;

	assert_int_equal(io_address_parse("203.0.113.9", &nowhere), 0);
	io_udp_batch_begin(&f->b, f->fd, &f->flow, &nowhere, true);
	add_copy(f, 0, 8);
	assert_int_equal(io_udp_batch_send(&f->b, &f->sent, &error), IO_UDP_TX_ERROR);
	assert_int_not_equal(error, 0);
	assert_int_equal(f->sent, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_equal_packets_join),
		TEST(test_long_copies),
		TEST(test_runs),
		TEST(test_without_segments),
		TEST(test_payload_in_place),
		TEST(test_longest_run),
		TEST(test_split),
		TEST(test_split_after_some),
		TEST(test_skip),
		TEST(test_errors),
	};

	rng = prng_start("test_udp_batch");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
