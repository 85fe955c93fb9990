/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device remembers of failures: whose, of which status, and for how long. */
#include "emu/abi/cqe.h"
#include "emu/io/device/failures.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static struct io_failures all;

static int clear(void **state)
{
	(void)state;
	memset(&all, 0, sizeof(all));
	return 0;
}

static void add(enum core_trace_point point, uint32_t qpn, uint32_t code, uint32_t key)
{
	const struct uhca_abi_cause cause = {.kind = UHCA_ABI_CAUSE_RANGE, .key = key};

	io_failures_add(&all,
			&(struct core_trace){
				.point = point, .qpn = qpn, .a = code, .b = code, .cause = &cause},
			100);
}

/* What comes behind a NAK is dropped: that is not why the request failed. */
static void test_by_status(void **state)
{
	(void)state;
	add(CORE_TRACE_JUDGED, 5, CORE_JUDGED_REFUSED, 1);
	add(CORE_TRACE_RX_DROP, 5, CORE_DROP_STATE, 2);
	add(CORE_TRACE_CQE, 5, UHCA_ABI_WC_LOC_LEN_ERR, 3);
	assert_int_equal(io_failures_of(&all, 5, 100, UHCA_ABI_WC_REM_ACCESS_ERR)->cause.key, 1);
	assert_int_equal(io_failures_of(&all, 5, 100, UHCA_ABI_WC_RETRY_EXC_ERR)->cause.key, 2);
	assert_int_equal(io_failures_own(&all, 5, 100, UHCA_ABI_WC_LOC_LEN_ERR)->cause.key, 3);
	assert_null(io_failures_of(&all, 5, 100, UHCA_ABI_WC_RNR_RETRY_EXC_ERR));
	assert_null(io_failures_own(&all, 5, 100, UHCA_ABI_WC_LOC_PROT_ERR));
	assert_null(io_failures_of(&all, 6, 100, UHCA_ABI_WC_REM_ACCESS_ERR));
	assert_null(io_failures_of(&all, 5, 101, UHCA_ABI_WC_REM_ACCESS_ERR));
}

/* One that comes again and again takes one place, and the newest of it is kept. */
static void test_same_again(void **state)
{
	(void)state;
	add(CORE_TRACE_JUDGED, 5, CORE_JUDGED_REFUSED, 1);
	for (uint32_t i = 0; i < 10 * IO_FAILURES; i++)
		add(CORE_TRACE_RX_DROP, 6, CORE_DROP_STATE, i);
	assert_int_equal(all.n, 2);
	assert_int_equal(io_failures_of(&all, 6, 100, UHCA_ABI_WC_RETRY_EXC_ERR)->cause.key,
			 10 * IO_FAILURES - 1);
	assert_non_null(io_failures_of(&all, 5, 100, UHCA_ABI_WC_REM_ACCESS_ERR));
}

static void test_oldest_goes(void **state)
{
	(void)state;
	for (uint32_t qpn = 1; qpn <= IO_FAILURES + 1; qpn++)
		add(CORE_TRACE_JUDGED, qpn, CORE_JUDGED_REFUSED, qpn);
	assert_null(io_failures_of(&all, 1, 100, UHCA_ABI_WC_REM_ACCESS_ERR));
	assert_int_equal(io_failures_of(&all, 2, 100, UHCA_ABI_WC_REM_ACCESS_ERR)->cause.key, 2);
}

static void test_what_is_none(void **state)
{
	const struct uhca_abi_cause cause = {.kind = UHCA_ABI_CAUSE_PSN_BEHIND};

	(void)state;
	assert_false(io_failure_is(&(struct core_trace){.point = CORE_TRACE_RX_DROP}));
	assert_false(io_failure_is(&(struct core_trace){
		.point = CORE_TRACE_JUDGED, .b = CORE_JUDGED_DUPLICATE, .cause = &cause}));
	assert_false(io_failure_is(&(struct core_trace){.point = CORE_TRACE_NAK, .cause = &cause}));
	assert_true(
		io_failure_is(&(struct core_trace){.point = CORE_TRACE_RX_DROP, .cause = &cause}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_by_status, clear),
		cmocka_unit_test_setup(test_same_again, clear),
		cmocka_unit_test_setup(test_oldest_goes, clear),
		cmocka_unit_test_setup(test_what_is_none, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
