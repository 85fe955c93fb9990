/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores of network order. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "wire/bytes.h"

static struct prng rng;

static void test_loads(void **state)
{
	const uint8_t p[9] = {0x00, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8};

	(void)state;
	assert_int_equal(roce_load_be16(p + 1), 0x8192);
	assert_int_equal(roce_load_be24(p + 1), 0x8192a3);
	assert_int_equal(roce_load_be32(p + 1), 0x8192a3b4);
	assert_true(roce_load_be64(p + 1) == 0x8192a3b4c5d6e7f8u);
}

static void test_stores(void **state)
{
	uint8_t p[17] = {0};

	(void)state;
	roce_store_be16(p, 0x8192);
	roce_store_be24(p + 2, 0xffa1b2c3);
	roce_store_be32(p + 5, 0xd4e5f607);
	roce_store_be64(p + 9, 0x1122334455667788);
	const uint8_t expected[17] = {0x81, 0x92, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x07,
				      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};

	assert_memory_equal(p, expected, sizeof(p));
}

static void test_round_trips(void **state)
{
	uint8_t p[8];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const uint64_t v = prng_u64(&rng);

		roce_store_be16(p, (uint16_t)v);
		assert_int_equal(roce_load_be16(p), (uint16_t)v);
		roce_store_be24(p, (uint32_t)v);
		assert_int_equal(roce_load_be24(p), v & 0xffffff);
		roce_store_be32(p, (uint32_t)v);
		assert_int_equal(roce_load_be32(p), (uint32_t)v);
		roce_store_be64(p, v);
		assert_true(roce_load_be64(p) == v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_stores),
		cmocka_unit_test(test_round_trips),
	};

	rng = prng_start("bytes");
	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
