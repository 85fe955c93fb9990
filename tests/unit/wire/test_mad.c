/* SPDX-License-Identifier: BSD-2-Clause */
/* The common MAD header: fields at their places, no byte lost. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "wire/mad.h"

#include <string.h>

static struct prng rng;

static void test_places(void **state)
{
	const struct roce_mad mad = {
		.base_version = 0x01,
		.mgmt_class = 0x02,
		.class_version = 0x03,
		.method = 0x04,
		.status = 0x0506,
		.class_specific = 0x0708,
		.tid = 0x090a0b0c0d0e0f10,
		.attr_id = 0x1112,
		.reserved = 0x1314,
		.attr_mod = 0x15161718,
	};
	uint8_t p[ROCE_MAD_HEADER_LENGTH];

	(void)state;
	roce_mad_emit(&mad, p);
	for (uint8_t i = 0; i < sizeof(p); i++)
		assert_int_equal(p[i], i + 1);
}

static void test_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint8_t in[ROCE_MAD_HEADER_LENGTH];
		uint8_t out[ROCE_MAD_HEADER_LENGTH];
		struct roce_mad mad;

		prng_fill(&rng, in, sizeof(in));
		roce_mad_parse(in, &mad);
		roce_mad_emit(&mad, out);
		assert_memory_equal(in, out, sizeof(in));
	}
}

static void test_lengths(void **state)
{
	(void)state;
	assert_int_equal(ROCE_MAD_LENGTH, 256);
	assert_int_equal(ROCE_MAD_DATA_LENGTH, 232);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_lengths),
	};

	rng = prng_start("mad");
	return cmocka_run_group_tests_name("mad", tests, NULL, NULL);
}
