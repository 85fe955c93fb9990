/* SPDX-License-Identifier: BSD-2-Clause */
/* When packets leave that a rule holds back: in order, and each rule by itself. */
#include "emu/fault/net/lane.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>

static const struct fault_plan_ops ops = {.exists = NULL};

static void test_delay(void **state)
{
	struct fault_lane l = {0};

	(void)state;
	assert_int_equal(fault_lane_delay(&l, 100, 50), 150);
	assert_int_equal(fault_lane_delay(&l, 110, 10), 150); /* not before the one before */
	assert_int_equal(fault_lane_delay(&l, 200, 0), 200);
	assert_int_equal(fault_lane_delay(&l, 300, UINT64_MAX), UINT64_MAX - 1);
}

static void test_rate(void **state)
{
	struct fault_lane l = {0};

	(void)state;
	assert_int_equal(fault_lane_rate(&l, 1000, 1000000, 100), 1000);
	assert_int_equal(fault_lane_rate(&l, 1000, 1000000, 100), 101000);
	assert_int_equal(fault_lane_rate(&l, 1000, 1000000, 50), 201000);
	assert_int_equal(fault_lane_rate(&l, 1000, 1000000, 50), 251000);
	assert_int_equal(fault_lane_rate(&l, 9000000, 1000000, 50), 9000000); /* idle again */
	assert_int_equal(fault_lane_rate(&l, 9000000, 1, 1), 9050000);        /* a bit a second */
	assert_int_equal(fault_lane_rate(&l, 9000000, 1, 1), 9050000 + UINT64_C(1000000000));
}

static void test_pause(void **state)
{
	struct fault_lanes all = {0};
	struct fault_lane l = {0};

	(void)state;
	assert_int_equal(fault_lane_wait(&l, 90), 90);
	fault_lane_pause(&all, &l, 100, 50);
	assert_int_equal(fault_lane_wait(&l, 100), 150);
	assert_int_equal(fault_lane_wait(&l, 149), 150);
	fault_lane_pause(&all, &l, 149, 50); /* behind the first */
	assert_int_equal(fault_lane_wait(&l, 149), 200);
	assert_int_equal(fault_lane_wait(&l, 160), 200);
	assert_int_equal(fault_lane_wait(&l, 700), 700); /* it is over */
	assert_int_equal(all.paused_until, 200);
	fault_lane_pause(&all, &l, 800, UINT64_MAX);
	assert_int_equal(fault_lane_wait(&l, 801), UINT64_MAX - 1);
}

static bool enter(struct fault_lane *l, const struct fault_lane_limit *limit, uint64_t at,
		  uint64_t leaves)
{
	return fault_lane_enter(l, limit, at,
				&(struct fault_lane_waiting){.leaves = leaves, .bytes = 100});
}

static void test_queue(void **state)
{
	const struct fault_lane_limit none = {0}, packets = {.packets = 3}, bytes = {.bytes = 250};
	struct fault_lanes lanes = {.lane = calloc(1, sizeof(struct fault_lane)), .count = 1};
	struct fault_lane *l = lanes.lane;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		assert_true(enter(l, &none, 1, 50));
	assert_int_equal(l->queue.n, 0);
	assert_true(enter(l, &packets, 1, 50));
	assert_true(enter(l, &packets, 1, 60));
	assert_true(enter(l, &packets, 1, 70));
	assert_false(enter(l, &packets, 49, 70));
	assert_true(enter(l, &packets, 49, 49)); /* leaves at once: needs no place */
	assert_true(enter(l, &packets, 50, 70)); /* one has left */
	assert_false(enter(l, &packets, 50, 80));
	assert_true(enter(l, &bytes, 70, 90)); /* all have */
	assert_true(enter(l, &bytes, 70, 90));
	assert_false(enter(l, &bytes, 70, 90));
	/* Thousands pass through; the room is that of those that wait together. */
	for (unsigned i = 0; i < 5000; i++)
		assert_true(enter(l, &packets, 100 + i, 102 + i));
	assert_in_range(l->queue.room, 3, 64);
	fault_lanes_clear(&lanes);
}

static void test_lanes(void **state)
{
	struct fault_plan *p = fault_plan_create(1, &ops, NULL);
	struct fault_lanes lanes = {0};
	const struct fault_entry *e;
	struct fault_error error;
	int number;

	(void)state;
	number = fault_plan_add(p, "delay=1ms", 5, &error);
	e = fault_plan_entry(p, 0);
	fault_lane_of(&lanes, p, e, FAULT_TX)->last = 77;
	assert_int_equal(fault_lane_of(&lanes, p, e, FAULT_RX)->last, 0);
	assert_int_equal(fault_lane_of(&lanes, p, e, FAULT_TX)->last, 77);
	assert_int_equal(fault_plan_change(p, (uint32_t)number, "delay=2ms", 6, &error), 0);
	e = fault_plan_entry(p, 0);
	assert_int_equal(fault_lane_of(&lanes, p, e, FAULT_TX)->last, 0);
	/* rules come and go by the thousand: their lanes go too */
	for (unsigned i = 0; i < 5000; i++) {
		number = fault_plan_add(p, "rate=1mbit", i, &error);
		assert_true(number > 0);
		e = fault_plan_entry(p, 1);
		assert_non_null(fault_lane_of(&lanes, p, e, FAULT_TX));
		assert_int_equal(fault_plan_remove(p, (uint32_t)number), 0);
	}
	assert_in_range(lanes.room, 1, 16);
	fault_lanes_clear(&lanes);
	fault_plan_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay), cmocka_unit_test(test_rate),
		cmocka_unit_test(test_pause), cmocka_unit_test(test_queue),
		cmocka_unit_test(test_lanes),
	};

	return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
