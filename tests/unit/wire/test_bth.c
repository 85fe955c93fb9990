/* SPDX-License-Identifier: BSD-2-Clause */
/* Each field of the BTH at its place, and the round trip of all of them in both orders. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/bth.h"

#include <string.h>

static struct prng rng;

/* One field set, all others zero: exactly the bits that it owns are set on the wire. */
struct place {
	struct roce_bth bth;
	uint8_t bytes[ROCE_BTH_LENGTH];
};

static void test_each_field_has_its_place(void **state)
{
	static const struct place places[] = {
		{{.opcode = {0xff}}, {[0] = 0xff}},
		{{.solicited = true}, {[1] = 0x80}},
		{{.migreq = true}, {[1] = 0x40}},
		{{.pad = 3}, {[1] = 0x30}},
		{{.version = 15}, {[1] = 0x0f}},
		{{.pkey = 0x8123}, {[2] = 0x81, [3] = 0x23}},
		{{.fecn = true}, {[4] = 0x80}},
		{{.becn = true}, {[4] = 0x40}},
		{{.reserved6 = 0x3f}, {[4] = 0x3f}},
		{{.dest_qp = 0x812345}, {[5] = 0x81, [6] = 0x23, [7] = 0x45}},
		{{.ackreq = true}, {[8] = 0x80}},
		{{.reserved7 = 0x7f}, {[8] = 0x7f}},
		{{.psn = 0x812345}, {[9] = 0x81, [10] = 0x23, [11] = 0x45}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint8_t bytes[ROCE_BTH_LENGTH];

		memset(bytes, 0xee, sizeof(bytes));
		roce_bth_emit(&places[i].bth, bytes);
		assert_memory_equal(bytes, places[i].bytes, sizeof(bytes));
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct roce_bth in;
		struct roce_bth out;
		uint8_t bytes[ROCE_BTH_LENGTH];

		gen_bth(&rng, &in);
		in.opcode.v = (uint8_t)prng_bits(&rng, 8);
		in.version = (uint8_t)prng_bits(&rng, 4);
		roce_bth_emit(&in, bytes);
		memset(&out, 0, sizeof(out));
		roce_bth_parse(bytes, &out);
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

/* No bit of the twelve bytes is lost. */
static void test_bytes_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint8_t bytes[ROCE_BTH_LENGTH];
		uint8_t again[ROCE_BTH_LENGTH];
		struct roce_bth bth;

		prng_fill(&rng, bytes, sizeof(bytes));
		roce_bth_parse(bytes, &bth);
		roce_bth_emit(&bth, again);
		assert_memory_equal(bytes, again, sizeof(bytes));
	}
}

static void test_wide_values_are_masked(void **state)
{
	const struct roce_bth bth = {
		.pad = 0xfc,
		.version = 0xf0,
		.reserved6 = 0xc0,
		.dest_qp = 0xff000000,
		.reserved7 = 0x80,
		.psn = 0xff000000,
	};
	const uint8_t zero[ROCE_BTH_LENGTH] = {0};
	uint8_t bytes[ROCE_BTH_LENGTH];

	(void)state;
	roce_bth_emit(&bth, bytes);
	assert_memory_equal(bytes, zero, sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field_has_its_place),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bytes_round_trip),
		cmocka_unit_test(test_wide_values_are_masked),
	};

	rng = prng_start("bth");
	return cmocka_run_group_tests_name("bth", tests, NULL, NULL);
}
