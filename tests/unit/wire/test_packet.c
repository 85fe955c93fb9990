/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of every opcode with random fields survive emit and parse, in both orders; everything
 * shorter, longer or unknown is refused with the right result.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/packet.h"

#include <string.h>

#define ROUNDS 200

static struct prng rng;

/* Compares every field through the struct's bytes, but the payload through its contents. */
static void assert_packet_equal(const struct roce_packet *a, const struct roce_packet *b)
{
	struct roce_packet x = *a;
	struct roce_packet y = *b;

	assert_int_equal(x.payload_len, y.payload_len);
	if (x.payload_len)
		assert_memory_equal(x.payload, y.payload, x.payload_len);
	else
		assert_true(x.payload == NULL && y.payload == NULL);
	x.payload = y.payload = NULL;
	assert_memory_equal(&x, &y, sizeof(x));
}

static void round_trip(roce_opcode op)
{
	uint8_t bytes[ROCE_MAX_PACKET_LENGTH];
	uint8_t again[ROCE_MAX_PACKET_LENGTH];
	struct roce_packet in;
	struct roce_packet out;

	gen_packet(&rng, op, &in);
	const size_t len = roce_packet_emit(&in, bytes, sizeof(bytes));

	assert_int_equal(len, roce_header_length(op) + in.payload_len + in.bth.pad);
	assert_int_equal(len % 4, 0);
	memset(&out, 0xa5, sizeof(out));
	assert_int_equal(roce_packet_parse(bytes, len, &out), ROCE_PARSE_OK);
	assert_packet_equal(&in, &out);
	assert_int_equal(roce_packet_emit(&out, again, sizeof(again)), len);
	assert_memory_equal(bytes, again, len);
}

static void test_round_trip_all_opcodes(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		const roce_opcode op = {(uint8_t)v};

		if (!roce_opcode_known(op))
			continue;
		for (int i = 0; i < ROUNDS; i++)
			round_trip(op);
	}
}

/* Random bytes behind a valid first two: what parses must come out again as it was. */
static void test_bytes_round_trip(void **state)
{
	uint8_t bytes[128];
	uint8_t again[128];
	unsigned parsed = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const size_t len = prng_below(&rng, sizeof(bytes) + 1);
		struct roce_packet pkt;

		prng_fill(&rng, bytes, sizeof(bytes));
		bytes[1] &= 0xf0;
		if (roce_packet_parse(bytes, len, &pkt) != ROCE_PARSE_OK)
			continue;
		parsed++;
		assert_int_equal(roce_packet_emit(&pkt, again, sizeof(again)), len);
		assert_memory_equal(bytes, again, len);
	}
	assert_true(parsed > 1000);
}

/* Each length below headers and pad is short, at each opcode; the buffer has exactly that size. */
static void test_every_truncation_is_short(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		const roce_opcode op = {(uint8_t)v};
		uint8_t bytes[ROCE_MAX_PACKET_LENGTH];
		struct roce_packet pkt;

		if (!roce_opcode_known(op))
			continue;
		gen_packet(&rng, op, &pkt);
		assert_true(roce_packet_emit(&pkt, bytes, sizeof(bytes)) > 0);
		for (size_t n = 0; n < roce_header_length(op) + pkt.bth.pad; n++) {
			uint8_t *exact = test_malloc(n + 1);
			struct roce_packet out;

			memcpy(exact + 1, bytes, n);
			assert_int_equal(roce_packet_parse(exact + 1, n, &out), ROCE_PARSE_SHORT);
			test_free(exact);
		}
	}
}

static void test_version_and_opcode(void **state)
{
	uint8_t bytes[ROCE_BTH_LENGTH] = {ROCE_RC_SEND_ONLY};
	struct roce_packet pkt;

	(void)state;
	assert_int_equal(roce_packet_parse(bytes, sizeof(bytes), &pkt), ROCE_PARSE_OK);
	for (uint8_t version = 1; version < 16; version++) {
		bytes[1] = version;
		assert_int_equal(roce_packet_parse(bytes, sizeof(bytes), &pkt), ROCE_PARSE_VERSION);
	}
	bytes[1] = 0;
	for (unsigned v = 0; v < 256; v++) {
		bytes[0] = (uint8_t)v;
		assert_int_equal(roce_packet_parse(bytes, sizeof(bytes), &pkt) == ROCE_PARSE_OPCODE,
				 !roce_opcode_known((roce_opcode){(uint8_t)v}));
	}
}

static void test_payload_limits(void **state)
{
	static uint8_t bytes[ROCE_MAX_PACKET_LENGTH + 4];
	struct roce_packet pkt;

	(void)state;
	memset(bytes, 0, sizeof(bytes));
	bytes[0] = ROCE_RC_SEND_ONLY;
	assert_int_equal(roce_packet_parse(bytes, 12 + 4096, &pkt), ROCE_PARSE_OK);
	assert_int_equal(pkt.payload_len, 4096);
	assert_ptr_equal(pkt.payload, bytes + 12);
	assert_int_equal(roce_packet_parse(bytes, 12 + 4097, &pkt), ROCE_PARSE_LENGTH);
	bytes[1] = 3 << 4;
	assert_int_equal(roce_packet_parse(bytes, 12 + 4096 + 3, &pkt), ROCE_PARSE_OK);
	bytes[0] = ROCE_RC_ACKNOWLEDGE;
	bytes[1] = 0;
	assert_int_equal(roce_packet_parse(bytes, 16, &pkt), ROCE_PARSE_OK);
	assert_int_equal(roce_packet_parse(bytes, 17, &pkt), ROCE_PARSE_LENGTH);
	bytes[0] = ROCE_RC_READ_REQUEST;
	assert_int_equal(roce_packet_parse(bytes, 32, &pkt), ROCE_PARSE_LENGTH);
}

static void test_emit_needs_room(void **state)
{
	uint8_t bytes[64];
	uint8_t payload[6] = {1, 2, 3, 4, 5, 6};
	struct roce_packet pkt = {.payload = payload, .payload_len = 6};

	(void)state;
	pkt.bth.opcode.v = ROCE_RC_SEND_ONLY_IMM;
	pkt.bth.pad = roce_pad(6);
	for (size_t cap = 0; cap < 24; cap++) {
		memset(bytes, 0x5a, sizeof(bytes));
		assert_int_equal(roce_packet_emit(&pkt, bytes, cap), 0);
		for (size_t i = 0; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], 0x5a);
	}
	assert_int_equal(roce_packet_emit(&pkt, bytes, 24), 24);
	assert_int_equal(roce_packet_emit_headers(&pkt, bytes, 15), 0);
	assert_int_equal(roce_packet_emit_headers(&pkt, bytes, 16), 16);
	pkt.bth.opcode.v = 0xff;
	assert_int_equal(roce_packet_emit(&pkt, bytes, sizeof(bytes)), 0);
	assert_int_equal(roce_packet_emit_headers(&pkt, bytes, sizeof(bytes)), 0);
	assert_int_equal(roce_header_length(pkt.bth.opcode), 0);
}

static void test_longest_headers(void **state)
{
	size_t longest = 0;

	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		const size_t n = roce_header_length((roce_opcode){(uint8_t)v});

		longest = n > longest ? n : longest;
	}
	assert_int_equal(longest, ROCE_MAX_HEADER_LENGTH);
}

static void test_pad(void **state)
{
	(void)state;
	for (size_t n = 0; n < 100; n++) {
		assert_in_range(roce_pad(n), 0, 3);
		assert_int_equal((n + roce_pad(n)) % 4, 0);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(roce_parse_name(ROCE_PARSE_OK), "ok");
	assert_string_equal(roce_parse_name(ROCE_PARSE_SHORT), "short packet");
	assert_string_equal(roce_parse_name(ROCE_PARSE_VERSION), "unknown transport version");
	assert_string_equal(roce_parse_name(ROCE_PARSE_OPCODE), "unknown opcode");
	assert_string_equal(roce_parse_name(ROCE_PARSE_LENGTH), "wrong payload length");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_all_opcodes),
		cmocka_unit_test(test_bytes_round_trip),
		cmocka_unit_test(test_every_truncation_is_short),
		cmocka_unit_test(test_version_and_opcode),
		cmocka_unit_test(test_payload_limits),
		cmocka_unit_test(test_emit_needs_room),
		cmocka_unit_test(test_longest_headers),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_names),
	};

	rng = prng_start("packet");
	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
