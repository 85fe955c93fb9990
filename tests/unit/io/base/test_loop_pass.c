/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told of passes: the longest by the clock and the longest in processor time, which a sleep
 * does not make longer and which is never less than what was used.
 */
#include "emu/io/base/loop_pass.h"
#include "tests/support/wire/cmocka_all.h"

#include <poll.h>

#define WORK (5 * IO_MSEC)

static void use_processor(uint64_t time)
{
	uint64_t end = io_clock_thread() + time;

	while (io_clock_thread() < end)
		;
}

static void test_work_counts(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	io_loop_pass_begin(&t, io_clock_now());
	use_processor(WORK);
	io_loop_pass_end(&t, io_clock_now());
	assert_true(t.longest_cpu >= WORK);
	assert_true(t.longest >= t.longest_cpu);
}

static void test_waiting_does_not(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	io_loop_pass_begin(&t, io_clock_now());
	poll(NULL, 0, 50);
	io_loop_pass_end(&t, io_clock_now());
	assert_true(t.longest >= 50 * IO_MSEC);
	assert_true(t.longest_cpu < 25 * IO_MSEC);
}

/* Of the pass that took longest it is known what took longest in it. */
static void test_kind(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	io_loop_pass_did("before"); /* of no pass */
	io_loop_pass_begin(&t, io_clock_now());
	use_processor(WORK / 4);
	io_loop_pass_did("short");
	use_processor(WORK);
	io_loop_pass_did("long");
	io_loop_pass_did("nothing");
	io_loop_pass_end(&t, io_clock_now());
	assert_string_equal(t.longest_kind, "long");
	io_loop_pass_begin(&t, io_clock_now());
	use_processor(WORK / 4);
	io_loop_pass_did("a shorter pass");
	io_loop_pass_end(&t, io_clock_now());
	assert_string_equal(t.longest_kind, "long");
	io_loop_pass_begin(&t, io_clock_now());
	use_processor(2 * WORK);
	io_loop_pass_end(&t, io_clock_now());
	assert_null(t.longest_kind);
}

/* Work before a pass is no part of it, up to what a sample may be old. */
static void test_work_before(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	io_loop_pass_begin(&t, io_clock_now());
	io_loop_pass_end(&t, io_clock_now());
	use_processor(WORK);
	io_loop_pass_begin(&t, io_clock_now());
	use_processor(WORK / 5);
	io_loop_pass_end(&t, io_clock_now());
	assert_true(t.longest_cpu >= WORK / 5);
	assert_true(t.longest_cpu < WORK);
}

/* Many short passes between two samples are not one long one, and need no reading. */
static void test_short_passes(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	for (uint64_t now = 1; now < IO_MSEC; now += 2 * IO_USEC) {
		io_loop_pass_begin(&t, now);
		io_loop_pass_end(&t, now + IO_USEC);
		assert_true(now - t.sampled <= PASS_SAMPLE);
	}
	assert_int_equal(t.longest, IO_USEC);
	assert_int_equal(t.longest_cpu, IO_USEC);
}

static void test_none_begun(void **state)
{
	struct io_loop_pass t = {0};

	(void)state;
	io_loop_pass_end(&t, IO_SEC);
	assert_int_equal(t.longest, 0);
	assert_int_equal(t.longest_cpu, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_counts),  cmocka_unit_test(test_waiting_does_not),
		cmocka_unit_test(test_kind),         cmocka_unit_test(test_work_before),
		cmocka_unit_test(test_short_passes), cmocka_unit_test(test_none_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
