/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests with CMocka, on a device of their own. With an argument, those whose name it matches. */
#include "rdma_write.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <uhca_fixture.h>

static void test_bytes_arrive(void **state)
{
	(void)state;
	assert_int_equal(rdma_write_loopback(1), 0);
	assert_int_equal(rdma_write_loopback(65536), 0);
}

static void test_lost_packet_is_sent_again(void **state)
{
	int rule = uhcactl_fault_add(*state, "drop opcode=rc.write nth=2", NULL);

	assert_true(rule > 0);
	assert_int_equal(rdma_write_loopback(10000), 0);
	assert_int_equal(uhcactl_fault_hits(*state, rule, NULL), 1);
}

static void test_no_registration(void **state)
{
	assert_true(uhcactl_fault_add(*state, "call.fail=ENOMEM call=reg_mr", NULL) > 0);
	assert_int_equal(rdma_write_loopback(1), -ENOMEM);
}

#define TEST_OF(name) cmocka_unit_test_setup_teardown(name, uhca_fixture_open, uhca_fixture_close)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST_OF(test_no_registration),
		TEST_OF(test_bytes_arrive),
		TEST_OF(test_lost_packet_is_sent_again),
	};

	uhca_fixture_enter(argc, argv, NULL);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
