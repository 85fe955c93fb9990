/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of checks: names, groups, what is taken out again, and words that are neither. */
#include "provider/diagnostic/diagnostic.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>

#define BIT(check) (1ull << UHCA_CHECK_##check)

static uint64_t parsed(const char *list)
{
	uint64_t checks = 0;

	assert_int_equal(uhcav_check_parse(list, &checks), 0);
	return checks;
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(parsed("send-changed"), BIT(SEND_CHANGED));
	assert_int_equal(parsed("key-dead,left-at-exit"), BIT(KEY_DEAD) | BIT(LEFT_AT_EXIT));
	assert_int_equal(parsed(""), 0);
}

static void test_groups(void **state)
{
	(void)state;
	assert_true(parsed("sum") & BIT(SEND_CHANGED));
	assert_false(parsed("sum") & BIT(RECV_OVERLAP));
	assert_int_equal(parsed("strict"), BIT(RECV_OVERLAP) | BIT(QUEUE_OVERRUN) |
						   BIT(CQ_OVERRUN) | BIT(WR_ID_REUSED) |
						   BIT(CONN_RETRIES));
	assert_int_equal(parsed("all"), parsed("sum") | parsed("strict"));
	assert_int_equal(parsed("all,page,portable"), UINT64_MAX >> (64 - UHCA_CHECK_COUNT));
	assert_int_equal(parsed("page"),
			 parsed("sum") | BIT(SEND_WRITTEN) | BIT(RECV_USED) | BIT(READ_USED));
	assert_int_equal(parsed("all,page,-page"), parsed("all"));
	assert_int_equal(parsed("portable"), BIT(PORTABLE));
	assert_int_equal(parsed("sum,-send-changed"), parsed("sum") & ~BIT(SEND_CHANGED));
	assert_int_equal(parsed("all,-strict"), parsed("sum"));
}

static void test_unknown(void **state)
{
	uint64_t checks = 7;

	(void)state;
	assert_int_equal(uhcav_check_parse("send", &checks), -EINVAL);
	assert_int_equal(uhcav_check_parse("sum,send-changedx", &checks), -EINVAL);
	assert_int_equal(uhcav_check_parse("sum,,strict", &checks), -EINVAL);
	assert_int_equal(uhcav_check_parse("-", &checks), -EINVAL);
	assert_int_equal(checks, 7);
}

static void test_enable(void **state)
{
	(void)state;
	uhcav_check_enable(BIT(KEY_RANGE));
	assert_true(uhcav_check_on(UHCA_CHECK_KEY_RANGE));
	assert_false(uhcav_check_on(UHCA_CHECK_KEY_DEAD));
	assert_string_equal(uhcav_check_name(UHCA_CHECK_KEY_RANGE), "key-range");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_enable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
