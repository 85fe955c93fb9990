/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that are dropped or judged: all of a burst are counted, and the reason is told once. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/base.h"

static void test_counts(void **state)
{
	const struct core_burst t = {.head.bth.psn = 7, .head.bth.dest_qp = 0x999, .count = 8};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	core_rx(f.dev, 0, &t);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_NO_QP], 8);
	device_drop_one(f.dev, 5, 6, CORE_DROP_NO_QP);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_NO_QP], 9);
	fixture_stop(&f);
}

static void test_reason(void **state)
{
	const struct core_burst t = {.head.bth.psn = 7, .count = 2};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_null(device_cause(f.dev));
	device_because(f.dev, &CAUSE(QKEY, .expected = 1, .got = 2));
	assert_int_equal(device_cause(f.dev)->kind, UHCA_ABI_CAUSE_QKEY);
	device_judged(f.dev, 5, &t, CORE_JUDGED_REFUSED);
	assert_int_equal(f.trace.point, CORE_TRACE_JUDGED);
	assert_int_equal(f.trace.a, 7);
	assert_int_equal(f.trace.b, CORE_JUDGED_REFUSED);
	assert_null(device_cause(f.dev));
	device_because(f.dev, &CAUSE(QKEY, .expected = 1, .got = 2));
	device_drop(f.dev, 5, &t, CORE_DROP_QKEY);
	assert_null(device_cause(f.dev));
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
