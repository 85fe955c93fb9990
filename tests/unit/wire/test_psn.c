/* SPDX-License-Identifier: BSD-2-Clause */
/* Serial arithmetic around the wrap at 2^24 and around half the space. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "wire/psn.h"

static struct prng rng;

static void test_add_wraps(void **state)
{
	(void)state;
	assert_int_equal(psn_add(0, 0), 0);
	assert_int_equal(psn_add(0xffffff, 1), 0);
	assert_int_equal(psn_add(0xfffffe, 5), 3);
	assert_int_equal(psn_add(5, ROCE_PSN_MASK), 4);
	assert_int_equal(psn_add(5, (uint32_t)-6), 0xffffff);
}

static void test_diff(void **state)
{
	(void)state;
	assert_int_equal(psn_diff(7, 7), 0);
	assert_int_equal(psn_diff(0, 0xffffff), 1);
	assert_int_equal(psn_diff(0xffffff, 0), -1);
	assert_int_equal(psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(psn_diff(0x800000, 0), -0x800000);
	assert_int_equal(psn_diff(0, 0x800001), 0x7fffff);
}

static void test_diff_undoes_add(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		const uint32_t psn = (uint32_t)prng_bits(&rng, 24);
		const uint32_t n = (uint32_t)prng_bits(&rng, 23);

		assert_int_equal(psn_diff(psn_add(psn, n), psn), n);
		assert_int_equal(psn_diff(psn, psn_add(psn, n)), -(int32_t)n);
	}
}

static void test_window(void **state)
{
	(void)state;
	assert_false(psn_in_window(5, 5, 0));
	assert_true(psn_in_window(5, 5, 1));
	assert_false(psn_in_window(4, 5, 1));
	assert_false(psn_in_window(6, 5, 1));
	assert_true(psn_in_window(1, 0xfffffe, 4));
	assert_false(psn_in_window(2, 0xfffffe, 4));
	assert_true(psn_in_window(0xffffff, 0xfffffe, 4));
	assert_false(psn_in_window(0xfffffd, 0xfffffe, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_wraps),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_undoes_add),
		cmocka_unit_test(test_window),
	};

	rng = prng_start("psn");
	return cmocka_run_group_tests_name("psn", tests, NULL, NULL);
}
