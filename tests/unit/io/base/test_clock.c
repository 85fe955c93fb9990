/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One clock in terms of another: a packet that is dumped twice has one time, though the daemon may
 * lose the processor between two readings.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/io/base/clock.h"

#define ZERO UINT64_C(1700000000000000000)

static struct {
	uint64_t now;
	unsigned reads, away; /* of these readings the first ones come late */
} clocks;

/* Each reading takes 50 ns, and the processor is away for 30 ms before the second of some. */
static uint64_t read_clock(clockid_t id)
{
	clocks.now += 50;
	if (clocks.reads++ % 3 == 1 && clocks.away) {
		clocks.away--;
		clocks.now += 30 * IO_MSEC;
	}
	return id == CLOCK_REALTIME ? ZERO + clocks.now : clocks.now;
}

static void expect(unsigned away, uint64_t error)
{
	clocks.now = clocks.reads = 0;
	clocks.away = away;
	assert_in_range(io_clock_wall_of_zero_by(read_clock), ZERO - error, ZERO + error);
}

static void test_quiet(void **state)
{
	(void)state;
	expect(0, 100);
	assert_int_equal(clocks.reads, 3);
}

static void test_interrupted(void **state)
{
	(void)state;
	expect(3, 100);
	expect(19, 100);
	expect(1000, 30 * IO_MSEC); /* never alone: half of it, and no endless loop */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
