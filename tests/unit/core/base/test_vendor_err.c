/* SPDX-License-Identifier: BSD-2-Clause */
/* The vendor error of each status. */
#include "emu/core/base/vendor_err.h"
#include "tests/support/wire/cmocka_all.h"

static void test_send(void **state)
{
	(void)state;
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_SUCCESS, false), 0);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_LOC_LEN_ERR, true), 1);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_LOC_PROT_ERR, true), 1);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_LOC_PROT_ERR, false), 5);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_BAD_RESP_ERR, false), 5);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_REM_INV_REQ_ERR, false), 0x6102);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_REM_ACCESS_ERR, false), 0x6202);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_REM_OP_ERR, false), 0x6302);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_RETRY_EXC_ERR, false), 3);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_RNR_RETRY_EXC_ERR, false), 4);
	assert_int_equal(vendor_err_send(UHCA_ABI_WC_WR_FLUSH_ERR, true), 7);
}

static void test_receive(void **state)
{
	(void)state;
	assert_int_equal(vendor_err_receive(UHCA_ABI_WC_SUCCESS), 0);
	assert_int_equal(vendor_err_receive(UHCA_ABI_WC_LOC_LEN_ERR), 6);
	assert_int_equal(vendor_err_receive(UHCA_ABI_WC_WR_FLUSH_ERR), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_receive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
