/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores of network order, and the cursor's sticky error. */
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

static void test_writer_then_reader(void **state)
{
	const uint8_t tail[3] = {7, 8, 9};
	uint8_t buf[21];
	uint8_t out[3];
	struct roce_writer w = roce_writer(buf, sizeof(buf));

	(void)state;
	roce_write_u8(&w, 0xab);
	roce_write_be16(&w, 0x1234);
	roce_write_be24(&w, 0x56789a);
	roce_write_be32(&w, 0xbcdef012);
	roce_write_be64(&w, 0x3456789abcdef012);
	roce_write_bytes(&w, tail, 3);
	assert_false(w.error);
	assert_int_equal(w.left, 0);

	struct roce_reader r = roce_reader(buf, sizeof(buf));

	assert_int_equal(roce_read_u8(&r), 0xab);
	assert_int_equal(roce_read_be16(&r), 0x1234);
	assert_int_equal(roce_read_be24(&r), 0x56789a);
	assert_int_equal(roce_read_be32(&r), 0xbcdef012);
	assert_true(roce_read_be64(&r) == 0x3456789abcdef012);
	roce_read_bytes(&r, out, 3);
	assert_memory_equal(out, tail, 3);
	assert_false(r.error);
	assert_int_equal(r.left, 0);
}

/* After the first step that does not fit nothing is read any more, even what would fit. */
static void test_reader_error_sticks(void **state)
{
	const uint8_t buf[4] = {1, 2, 3, 4};
	uint8_t out[2] = {0xff, 0xff};
	struct roce_reader r = roce_reader(buf, sizeof(buf));

	(void)state;
	assert_int_equal(roce_read_be16(&r), 0x0102);
	assert_int_equal(roce_read_be24(&r), 0);
	assert_true(r.error);
	assert_int_equal(roce_read_u8(&r), 0);
	assert_int_equal(roce_read_be16(&r), 0);
	assert_int_equal(roce_read_be32(&r), 0);
	assert_true(roce_read_be64(&r) == 0);
	roce_read_bytes(&r, out, 2);
	assert_int_equal(out[0] | out[1], 0);
	assert_null(roce_read(&r, 0));
	assert_int_equal(r.left, 2);
}

static void test_writer_error_sticks(void **state)
{
	const uint8_t bytes[1] = {9};
	uint8_t buf[4] = {0x5a, 0x5a, 0x5a, 0x5a};
	struct roce_writer w = roce_writer(buf, 3);

	(void)state;
	roce_write_be16(&w, 0x0102);
	roce_write_be16(&w, 0xffff);
	assert_true(w.error);
	roce_write_u8(&w, 0xff);
	roce_write_be24(&w, 0xffffff);
	roce_write_be32(&w, 0xffffffff);
	roce_write_be64(&w, 0xffffffff);
	roce_write_bytes(&w, bytes, 1);
	assert_null(roce_write(&w, 0));
	assert_int_equal(w.left, 1);
	assert_memory_equal(buf, ((uint8_t[]){1, 2, 0x5a, 0x5a}), 4);
}

static void test_huge_length_does_not_wrap(void **state)
{
	uint8_t buf[4] = {0};
	struct roce_reader r = roce_reader(buf, sizeof(buf));
	struct roce_writer w = roce_writer(buf, sizeof(buf));

	(void)state;
	assert_null(roce_read(&r, SIZE_MAX));
	assert_true(r.error);
	assert_null(roce_write(&w, SIZE_MAX));
	assert_true(w.error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_stores),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_writer_then_reader),
		cmocka_unit_test(test_reader_error_sticks),
		cmocka_unit_test(test_writer_error_sticks),
		cmocka_unit_test(test_huge_length_does_not_wrap),
	};

	rng = prng_start("bytes");
	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
