/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv4, IPv6 and UDP headers: known bytes, round trips, and everything that must be refused. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/udpip.h"

#include <string.h>

static struct prng rng;

/* The IP and UDP headers of the first packet of rc_send.pcap, as Linux sent it. */
static const uint8_t linux_v4[28] = {
	0x45, 0x00, 0x04, 0x2c, 0x41, 0x8d, 0x40, 0x00, 0x40, 0x11, 0xe0, 0x83, 0x0a, 0x4d,
	0x00, 0x0c, 0x0a, 0x4d, 0x00, 0x0b, 0xc1, 0x44, 0x12, 0xb7, 0x04, 0x18, 0x00, 0x00,
};

static void test_linux_bytes(void **state)
{
	uint8_t bytes[48];
	struct roce_flow f;
	size_t payload;
	uint16_t ident;

	(void)state;
	/* The length behind the headers matters: give as much room as the header promises. */
	uint8_t *whole = test_calloc(1, 0x42c);

	memcpy(whole, linux_v4, sizeof(linux_v4));
	assert_int_equal(roce_udpip_parse(whole, 0x42c, &f, &ident, &payload), 28);
	test_free(whole);
	assert_int_equal(ident, 0x418d);
	assert_int_equal(payload, 0x418 - 8);
	assert_int_equal(f.sport, 0xc144);
	assert_int_equal(f.dport, 4791);
	assert_int_equal(f.hop_limit, 64);
	assert_int_equal(f.tclass, 0);
	assert_true(roce_flow_is_v4(&f));
	assert_int_equal(roce_udpip_emit(&f, ident, payload, bytes), 28);
	assert_memory_equal(bytes, linux_v4, 28);
	assert_int_equal(roce_ipv4_checksum(bytes), 0);
}

static void test_v6_bytes(void **state)
{
	const struct roce_flow f = {
		.src = {0xfe, 0x80, [15] = 1},
		.dst = {0xfe, 0x80, [15] = 2},
		.sport = 0xc001,
		.dport = 4791,
		.tclass = 0x68,
		.hop_limit = 64,
		.flow_label = 0xfff12345,
	};
	const uint8_t expected[48] =
		{
			0x66, 0x81, 0x23,     0x45,        0x00, 0x18,     0x11, 0x40,
			0xfe, 0x80, [23] = 1, [24] = 0xfe, 0x80, [39] = 2, 0xc0, 0x01,
			0x12, 0xb7, 0x00,     0x18,        0x00, 0x00,
		};
	uint8_t bytes[48];

	(void)state;
	assert_int_equal(roce_udpip_emit(&f, 77, 16, bytes), 48);
	assert_memory_equal(bytes, expected, 48);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		const bool v4 = i & 1;
		const size_t payload = prng_below(&rng, 64);
		const uint16_t ident = (uint16_t)prng_bits(&rng, 16);
		uint8_t bytes[48 + 64] = {0};
		struct roce_flow in;
		struct roce_flow out;
		uint16_t got_ident;
		size_t got_payload;

		gen_flow(&rng, v4, &in);
		const size_t len = roce_udpip_emit(&in, ident, payload, bytes);

		assert_int_equal(len, v4 ? 28 : 48);
		memset(&out, 0, sizeof(out));
		assert_int_equal(
			roce_udpip_parse(bytes, len + payload, &out, &got_ident, &got_payload),
			len);
		assert_memory_equal(&in, &out, sizeof(in));
		assert_int_equal(got_payload, payload);
		assert_int_equal(got_ident, v4 ? ident : 0);
		/* Bytes behind the IP packet (Ethernet padding) do not matter; missing ones do. */
		assert_int_equal(
			roce_udpip_parse(bytes, sizeof(bytes), &out, &got_ident, &got_payload),
			len);
		for (size_t n = 0; n < len + payload; n++)
			assert_int_equal(roce_udpip_parse(bytes, n, &out, &got_ident, &got_payload),
					 0);
	}
}

/* Changes one 16-bit half of a good packet and expects a refusal. */
static void refused(const uint8_t *good, size_t len, size_t at, uint8_t high, uint8_t low)
{
	uint8_t bytes[64];
	struct roce_flow f;
	uint16_t ident;
	size_t payload;

	memcpy(bytes, good, len);
	assert_int_not_equal(roce_udpip_parse(bytes, len, &f, &ident, &payload), 0);
	bytes[at] = high;
	bytes[at + 1] = low;
	assert_int_equal(roce_udpip_parse(bytes, len, &f, &ident, &payload), 0);
}

static void test_refused_v4(void **state)
{
	uint8_t good[28 + 16] = {0};
	struct roce_flow f;

	(void)state;
	gen_flow(&rng, true, &f);
	roce_udpip_emit(&f, 1, 16, good);
	refused(good, sizeof(good), 0, 0x55, 0); /* version 5 */
	refused(good, sizeof(good), 0, 0x44, 0); /* header of 16 bytes */
	refused(good, sizeof(good), 0, 0x4f, 0); /* header longer than the packet */
	refused(good, sizeof(good), 2, 0, 19);   /* total length below the header */
	refused(good, sizeof(good), 2, 0, 27);   /* total length without room for UDP */
	refused(good, sizeof(good), 2, 0, 45);   /* total length beyond the buffer */
	refused(good, sizeof(good), 6, 0x20, 0); /* more fragments */
	refused(good, sizeof(good), 6, 0x00, 1); /* a later fragment */
	refused(good, sizeof(good), 8, 64, 6);   /* TCP */
	refused(good, sizeof(good), 24, 0, 7);   /* UDP length below its header */
	refused(good, sizeof(good), 24, 0, 25);  /* UDP length beyond the IP packet */
}

static void test_refused_v6(void **state)
{
	uint8_t good[48 + 16] = {0};
	struct roce_flow f;

	(void)state;
	gen_flow(&rng, false, &f);
	roce_udpip_emit(&f, 0, 16, good);
	refused(good, sizeof(good), 4, 0, 7);   /* payload length without room for UDP */
	refused(good, sizeof(good), 4, 0, 25);  /* payload length beyond the buffer */
	refused(good, sizeof(good), 6, 6, 64);  /* TCP */
	refused(good, sizeof(good), 6, 44, 64); /* fragment header */
	refused(good, sizeof(good), 44, 0, 0);  /* UDP length 0 (jumbogram) */
	refused(good, sizeof(good), 44, 0, 25); /* UDP length beyond the IP packet */
}

/* Two mapped addresses in an IPv6 header would come out as an IPv4 flow. */
static void test_mapped_in_v6_is_refused(void **state)
{
	uint8_t bytes[48] = {0x60, 0, 0, 0, 0, 8, 17, 64};
	struct roce_flow f;
	uint16_t ident;
	size_t payload;

	(void)state;
	roce_udpip_parse(bytes, sizeof(bytes), &f, &ident, &payload);
	bytes[44 + 1] = 8;
	assert_int_equal(roce_udpip_parse(bytes, sizeof(bytes), &f, &ident, &payload), 48);
	memset(bytes + 18, 0xff, 2);
	assert_int_equal(roce_udpip_parse(bytes, sizeof(bytes), &f, &ident, &payload), 48);
	memset(bytes + 34, 0xff, 2);
	assert_int_equal(roce_udpip_parse(bytes, sizeof(bytes), &f, &ident, &payload), 0);
}

static void test_v4_options_are_skipped(void **state)
{
	uint8_t plain[28] = {0};
	uint8_t bytes[32] = {0};
	struct roce_flow in;
	struct roce_flow out = {0};
	uint16_t ident;
	size_t payload;

	(void)state;
	gen_flow(&rng, true, &in);
	roce_udpip_emit(&in, 5, 0, plain);
	memcpy(bytes, plain, 20);
	memcpy(bytes + 24, plain + 20, 8);
	bytes[0] = 0x46;
	bytes[3] = 32;
	assert_int_equal(roce_udpip_parse(bytes, sizeof(bytes), &out, &ident, &payload), 32);
	assert_memory_equal(&in, &out, sizeof(in));
	assert_int_equal(payload, 0);
}

/* A traffic class of 0x6a: 011010 10. */
static void test_traffic_class(void **state)
{
	struct roce_flow f = {.tclass = 0x6a};

	(void)state;
	assert_int_equal(roce_flow_dscp(&f), 26);
	assert_int_equal(roce_flow_priority(&f), 3);
	assert_int_equal(roce_flow_ecn(&f), ROCE_ECT0);
	roce_flow_set_ecn(&f, ROCE_CE);
	assert_int_equal(f.tclass, 0x6b);
	roce_flow_set_ecn(&f, ROCE_ECT1);
	assert_int_equal(f.tclass, 0x69);
	roce_flow_set_ecn(&f, ROCE_NOT_ECT);
	assert_int_equal(f.tclass, 0x68);
}

static void test_addr_is_v4(void **state)
{
	uint8_t addr[16] = {[10] = 0xff, [11] = 0xff, [12] = 10};

	(void)state;
	assert_true(roce_addr_is_v4(addr));
	for (size_t i = 0; i < 12; i++) {
		addr[i] ^= 1;
		assert_false(roce_addr_is_v4(addr));
		addr[i] ^= 1;
	}
}

/* Groups of IPv4 are 224 to 239, those of IPv6 all of ff00::/8. */
static void test_addr_is_group(void **state)
{
	uint8_t v4[16] = {[10] = 0xff, [11] = 0xff};
	uint8_t v6[16] = {0};

	(void)state;
	for (unsigned first = 0; first < 256; first++) {
		v4[12] = v6[0] = (uint8_t)first;
		assert_int_equal(roce_addr_is_group(v4), first >= 224 && first < 240);
		assert_int_equal(roce_addr_is_group(v6), first == 255);
	}
	v4[9] = 1;
	v4[12] = 224;
	assert_false(roce_addr_is_group(v4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linux_bytes),
		cmocka_unit_test(test_v6_bytes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused_v4),
		cmocka_unit_test(test_refused_v6),
		cmocka_unit_test(test_mapped_in_v6_is_refused),
		cmocka_unit_test(test_v4_options_are_skipped),
		cmocka_unit_test(test_traffic_class),
		cmocka_unit_test(test_addr_is_v4),
		cmocka_unit_test(test_addr_is_group),
	};

	rng = prng_start("udpip");
	return cmocka_run_group_tests_name("udpip", tests, NULL, NULL);
}
