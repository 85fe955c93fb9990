/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receiving: what passes the checks becomes the bursts that were sent, whatever way the kernel
 * put the packets together; a packet with one wrong bit is dropped and counted, and so is
 * everything malformed; the modes of the ICRC accept what they say, and from devices of the same
 * daemon none but off accepts an identification that our sender does not produce.
 */
#include "emu/io/net/udp_rx.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/pcap.h"

#include "wire/icrc.h"
#include "wire/packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct prng rng;
static uint8_t payload[65536];

#define BURSTS_MAX 300

/* What was delivered: bursts, with their payload put together. */
struct sink {
	unsigned n;
	struct core_burst burst[BURSTS_MAX];
	uint8_t bytes[BURSTS_MAX][4096];
	uint8_t last[65536];
};

static struct sink sink;
static struct io_udp_rx rx;
static struct roce_flow flow;

static void on_burst(void *arg, const struct core_burst *t)
{
	assert_ptr_equal(arg, &sink);
	assert_in_range(sink.n, 0, BURSTS_MAX - 1);
	burst_gen_gather(t, sink.last);
	if (t->length <= 4096)
		burst_gen_gather(t, sink.bytes[sink.n]);
	sink.burst[sink.n++] = *t;
}

static void start(enum io_icrc_mode mode)
{
	static const uint8_t src[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1};
	static const uint8_t dst[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 2};

	memset(&sink, 0, sizeof(sink));
	flow = burst_gen_flow(src, dst, 0xc123);
	io_udp_rx_init(&rx, mode, on_burst, &sink);
}

/* Packet i of the burst as it is on the wire with this identification. Returns its length. */
static size_t emit(const struct core_burst *t, uint32_t i, uint16_t ident, const uint8_t *data,
		   uint8_t *out)
{
	struct roce_packet pkt;
	uint32_t offset;
	size_t len;

	core_burst_packet(t, i, &pkt, &offset);
	pkt.payload = data + offset;
	len = roce_packet_emit(&pkt, out, ROCE_MAX_PACKET_LENGTH);
	assert_int_not_equal(len, 0);
	roce_icrc_store(roce_icrc_begin(&flow, ident, len + ROCE_ICRC_LENGTH, out, len), out + len);
	return len + ROCE_ICRC_LENGTH;
}

static struct core_burst send_only(uint32_t len)
{
	struct core_burst t;

	burst_gen_single(&rng, (roce_opcode){ROCE_RC_SEND_ONLY}, &flow, &t);
	t.length = t.segment = t.head.payload_len = len;
	t.iov[0] = (struct iovec){payload, len};
	t.n_iov = len ? 1 : 0;
	return t;
}

static void test_every_opcode(void **state)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];
	uint8_t data[ROCE_MAX_MTU];

	(void)state;
	start(IO_ICRC_STRICT);
	for (unsigned op = 0; op < 256; op++) {
		struct core_burst t;
		size_t len;

		if (!burst_gen_exists(op))
			continue;
		burst_gen_single(&rng, (roce_opcode){(uint8_t)op}, &flow, &t);
		burst_gen_gather(&t, data);
		len = emit(&t, 0, 0, data, buf);
		io_udp_rx_buffer(&rx, &flow, buf, len, 0);
		io_udp_rx_flush(&rx);
		assert_int_equal(sink.n, 1);
		assert_int_equal(sink.burst[0].head.bth.opcode.v, op);
		assert_int_equal(sink.burst[0].length, t.length);
		assert_memory_equal(sink.last, data, t.length);
		sink.n = 0;
	}
}

/* A message in buffers as receive offload makes them: segments with numbered identifications. */
static void deliver_message(const struct core_burst *t, uint8_t *buf, uint32_t per_buffer)
{
	uint32_t i = 0;

	while (i < t->count) {
		uint8_t *start_of = buf;
		size_t segment = 0;
		uint16_t place = 0;
		size_t len;

		do {
			len = emit(t, i, place, payload, buf);
			if (segment && len > segment)
				break; /* its extra header makes it the longest: on its own */
			segment = segment ? segment : len;
			buf += len;
			i++;
			place++;
		} while (i < t->count && place < per_buffer && len == segment);
		io_udp_rx_buffer(&rx, &flow, start_of, (size_t)(buf - start_of), segment);
	}
}

static void test_messages_become_one_burst(void **state)
{
	static uint8_t buf[2 * 65536];

	(void)state;
	prng_fill(&rng, payload, sizeof(payload));
	for (unsigned m = 0; m < burst_gen_messages_count; m++) {
		uint32_t mtu = 256u << prng_below(&rng, 5);
		uint32_t length = mtu * (2 + prng_below(&rng, 14)) + prng_below(&rng, mtu);
		struct core_burst t;

		start(IO_ICRC_STRICT);
		burst_gen_message(&rng, &burst_gen_messages[m], mtu, length, payload, &t);
		deliver_message(&t, buf, 1 + prng_below(&rng, 40));
		io_udp_rx_flush(&rx);
		assert_int_equal(sink.n, 1);
		assert_int_equal(sink.burst[0].count, t.count);
		assert_int_equal(sink.burst[0].segment, mtu);
		assert_int_equal(sink.burst[0].length, length);
		assert_int_equal(sink.burst[0].last_opcode.v, t.last_opcode.v);
		assert_int_equal(sink.burst[0].last_ackreq, t.last_ackreq);
		assert_memory_equal(sink.last, payload, length);
		assert_int_equal(rx.counters.packets, t.count);
		assert_int_equal(rx.counters.bursts, 1);
	}
}

/* Small messages of one length come in one buffer as well, and stay messages. */
static void test_messages_side_by_side(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t;
	size_t len = 0;
	size_t one = 0;

	(void)state;
	start(IO_ICRC_STRICT);
	t = send_only(8);
	for (uint16_t i = 0; i < 60; i++) {
		t.head.bth.psn = (t.head.bth.psn + 1) & 0xffffff;
		payload[0] = (uint8_t)i;
		one = emit(&t, 0, i, payload, buf + len);
		len += one;
	}
	io_udp_rx_buffer(&rx, &flow, buf, len, one);
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 60);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(sink.bytes[i][0], i);
}

static void test_every_wrong_bit(void **state)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];
	struct core_burst t;
	size_t len;

	(void)state;
	start(IO_ICRC_STRICT);
	t = send_only(16);
	len = emit(&t, 0, 0, payload, buf);
	for (size_t bit = 0; bit < len * 8; bit++) {
		if (bit / 8 == 4)
			continue; /* FECN, BECN, reserved: not covered */
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		io_udp_rx_buffer(&rx, &flow, buf, len, 0);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 0);
	assert_int_equal(rx.counters.bad_icrc, (len - 1) * 8);
	assert_string_equal(rx.why, "wrong ICRC");
}

/* Bursts that were there when a datagram was refused: it is told of in its place. */
static unsigned before_refusal;
static const char *refusal;

static void on_refusal(void *arg, const struct roce_flow *f, const uint8_t *p, size_t len,
		       const char *why)
{
	assert_ptr_equal(arg, &sink);
	assert_memory_equal(f, &flow, sizeof(flow));
	assert_true(len > 0 && p);
	before_refusal = sink.n;
	refusal = why;
}

static void test_refusals(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t;
	size_t one = 0;
	size_t len = 0;

	(void)state;
	start(IO_ICRC_STRICT);
	rx.refuse = on_refusal;
	t = send_only(64);
	for (uint16_t i = 0; i < 3; i++) {
		one = emit(&t, 0, i, payload, buf + len);
		if (i == 2)
			buf[len + 20] ^= 0x10;
		len += one;
	}
	io_udp_rx_buffer(&rx, &flow, buf, len, one);
	assert_int_equal(before_refusal, 2);
	assert_string_equal(refusal, "bad_icrc");
	io_udp_rx_buffer(&rx, &flow, buf, 5, 0);
	assert_string_equal(refusal, "malformed");
}

/* A bad packet takes none of its neighbours with it. */
static void test_bad_among_good(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t;
	size_t one = 0;
	size_t len = 0;

	(void)state;
	start(IO_ICRC_STRICT);
	t = send_only(64);
	for (uint16_t i = 0; i < 10; i++) {
		one = emit(&t, 0, i, payload, buf + len);
		if (i == 4)
			buf[len + 20] ^= 0x10;
		len += one;
	}
	io_udp_rx_buffer(&rx, &flow, buf, len, one);
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 9);
	assert_int_equal(rx.counters.bad_icrc, 1);
}

static bool is_own(const void *own, const uint8_t gid[16])
{
	return own && memcmp(own, gid, 16) == 0;
}

/* How many of the identifications 0, 5, 127, 128 and 40000 a mode accepts; own: our address. */
static unsigned accepted_of(enum io_icrc_mode mode, const uint8_t *own)
{
	static const uint16_t ident[] = {0, 5, 127, 128, 40000};
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];

	start(mode);
	rx.is_own = is_own;
	rx.own = own;
	for (unsigned i = 0; i < 5; i++) {
		struct core_burst t = send_only(32);

		io_udp_rx_buffer(&rx, &flow, buf, emit(&t, 0, ident[i], payload, buf), 0);
		io_udp_rx_flush(&rx);
	}
	return sink.n;
}

static void test_identifications(void **state)
{
	(void)state;
	assert_int_equal(accepted_of(IO_ICRC_STRICT, NULL), 3);
	assert_int_equal(accepted_of(IO_ICRC_LENIENT, NULL), 5);
	assert_int_equal(accepted_of(IO_ICRC_OFF, NULL), 5);
}

/* Lenient with strangers only: the sender of another device of the daemon is ours. */
static void test_own_devices(void **state)
{
	uint8_t own[16], other[16];

	(void)state;
	start(IO_ICRC_LENIENT);
	memcpy(own, flow.src, 16);
	memcpy(other, flow.src, 16);
	other[15] ^= 1;
	assert_int_equal(accepted_of(IO_ICRC_STRICT, own), 3);
	assert_int_equal(accepted_of(IO_ICRC_LENIENT, own), 3);
	assert_int_equal(rx.counters.bad_icrc, 2);
	assert_int_equal(accepted_of(IO_ICRC_LENIENT, other), 5);
	assert_int_equal(accepted_of(IO_ICRC_LENIENT, flow.dst), 5);
	assert_int_equal(accepted_of(IO_ICRC_OFF, own), 5);
}

static void test_icrc_off(void **state)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];
	struct core_burst t;
	size_t len;

	(void)state;
	start(IO_ICRC_OFF);
	t = send_only(32);
	len = emit(&t, 0, 0, payload, buf);
	buf[len - 1] ^= 0xff;
	io_udp_rx_buffer(&rx, &flow, buf, len, 0);
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 1);
}

/* Over IPv6 nothing is unknown: lenient is strict. */
static void test_v6_is_checked_in_full(void **state)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH];
	struct core_burst t;
	size_t len;

	(void)state;
	start(IO_ICRC_LENIENT);
	flow.src[0] = flow.dst[0] = 0x20;
	t = send_only(32);
	len = emit(&t, 0, 0, payload, buf);
	io_udp_rx_buffer(&rx, &flow, buf, len, 0);
	buf[20] ^= 1;
	io_udp_rx_buffer(&rx, &flow, buf, len, 0);
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 1);
	assert_int_equal(rx.counters.bad_icrc, 1);
}

/* Right ICRC, wrong packet. */
static void malformed(uint8_t *buf, size_t len)
{
	uint64_t before = rx.counters.malformed;

	roce_icrc_store(roce_icrc_begin(&flow, 0, len + ROCE_ICRC_LENGTH, buf, len), buf + len);
	io_udp_rx_buffer(&rx, &flow, buf, len + ROCE_ICRC_LENGTH, 0);
	assert_int_equal(rx.counters.malformed, before + 1);
	assert_non_null(rx.why);
}

static void test_malformed(void **state)
{
	uint8_t buf[ROCE_MAX_PACKET_LENGTH + 64];
	struct core_burst t;
	size_t len;

	(void)state;
	start(IO_ICRC_STRICT);
	t = send_only(32);
	len = emit(&t, 0, 0, payload, buf) - ROCE_ICRC_LENGTH;
	buf[0] = 0x1f; /* no such opcode */
	malformed(buf, len);
	buf[0] = ROCE_RC_WRITE_ONLY;
	malformed(buf, ROCE_BTH_LENGTH + 4); /* ends in its RETH */
	buf[0] = ROCE_RC_ACKNOWLEDGE;
	malformed(buf, len); /* has no payload */
	buf[0] = ROCE_RC_SEND_ONLY;
	buf[1] |= 1; /* another version */
	malformed(buf, len);
	for (size_t short_len = 0; short_len < 16; short_len++)
		io_udp_rx_buffer(&rx, &flow, buf, short_len, 0);
	assert_int_equal(rx.counters.malformed, 20);
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 0);
}

static void test_garbage(void **state)
{
	uint8_t buf[2000];

	(void)state;
	start(IO_ICRC_STRICT);
	for (unsigned i = 0; i < 5000; i++) {
		size_t len = prng_below(&rng, sizeof(buf));

		prng_fill(&rng, buf, len);
		io_udp_rx_buffer(&rx, &flow, buf, len, prng_below(&rng, 300));
	}
	io_udp_rx_flush(&rx);
	assert_int_equal(sink.n, 0);
}

/* Offers one captured packet to a receiver that knows of it what a socket shows. */
static bool takes(enum io_icrc_mode mode, const uint8_t *ip, size_t len, uint16_t *ident)
{
	size_t n, size;

	start(mode);
	n = roce_udpip_parse(ip, len, &flow, ident, &size);
	assert_true(n > 0);
	io_udp_rx_buffer(&rx, &flow, ip + n, size, 0);
	io_udp_rx_flush(&rx);
	return sink.n == 1;
}

/*
 * Packets of Linux soft-RoCE, with its own identifications: all are taken but where strict says
 * that over IPv4 the identification must be one of ours. IPv6 has none.
 */
static void take_capture(const char *name, bool v4)
{
	const char *srcdir = getenv("UHCA_SRCDIR");
	unsigned n = 0, foreign = 0;
	struct pcap pcap;
	const uint8_t *ip;
	char path[512];
	uint16_t ident;
	size_t len;

	assert_non_null(srcdir);
	snprintf(path, sizeof(path), "%s/tests/golden/captures/%s.pcap", srcdir, name);
	assert_int_equal(pcap_open(path, &pcap), 0);
	for (; pcap_next(&pcap, &ip, &len); n++) {
		assert_true(takes(IO_ICRC_LENIENT, ip, len, &ident));
		assert_true(takes(IO_ICRC_OFF, ip, len, &ident));
		assert_int_equal(takes(IO_ICRC_STRICT, ip, len, &ident), !v4 || ident < 128);
		foreign += ident >= 128;
	}
	pcap_close(&pcap);
	assert_true(n > 0);
	assert_int_equal(foreign > 0, v4);
}

static void test_soft_roce(void **state)
{
	(void)state;
	take_capture("rc_send", true);
	take_capture("rc_read", true);
	take_capture("ud_send", true);
	take_capture("cm_rping", true);
	take_capture("rc_send_v6", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_opcode),
		cmocka_unit_test(test_messages_become_one_burst),
		cmocka_unit_test(test_messages_side_by_side),
		cmocka_unit_test(test_every_wrong_bit),
		cmocka_unit_test(test_bad_among_good),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_identifications),
		cmocka_unit_test(test_own_devices),
		cmocka_unit_test(test_icrc_off),
		cmocka_unit_test(test_v6_is_checked_in_full),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_soft_roce),
		cmocka_unit_test(test_garbage),
	};

	rng = prng_start("test_udp_rx");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
