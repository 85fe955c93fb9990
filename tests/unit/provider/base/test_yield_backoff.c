/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Yields as long as they are short; sleeps instead, for 2 ms and more, after one that took a slice
 * of somebody who computes, where a long wait is known to be one, and where a short one has become
 * one. The clock is the test's.
 */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/yield_backoff.h"
#include "tests/support/provider/wrapped_wait.h"

#include <errno.h>
#include <pthread.h>

static void yield_backoff(unsigned n)
{
	while (n--)
		uhcav_yield_backoff();
}

static void expect(unsigned want_yields, unsigned want_sleeps)
{
	assert_int_equal(wrapped.yields, want_yields);
	assert_int_equal(wrapped.sleeps, want_sleeps);
	wrapped.yields = wrapped.sleeps = 0;
}

static void test_short_yields(void **state)
{
	(void)state;
	wrapped.yield_takes = 900 * USEC;
	for (unsigned i = 0; i < 1000; i++) {
		yield_backoff(1);
		uhcav_waits_no_more();
	}
	expect(1000, 0);
}

/* Whom it waits for is not brought to the processor by yields. */
static void test_in_vain(void **state)
{
	(void)state;
	wrapped.now += 1000 * MSEC;
	wrapped.yield_takes = 1 * USEC;
	yield_backoff(1001);
	expect(1000, 1);
	yield_backoff(22); /* it looks around for 10 us before it sleeps again */
	expect(20, 2);
	uhcav_waits_no_more();
	yield_backoff(100);
	expect(100, 0);
	/* Eight looks are the least, however long they took. */
	wrapped.now += 1000 * MSEC;
	uhcav_waits_no_more();
	wrapped.yield_takes = 900 * USEC;
	yield_backoff(7);
	expect(7, 0);
	yield_backoff(1);
	expect(0, 1);
}

/* 2 ms are 36 sleeps; then it is tried again. */
static void test_beside_a_yield_backoff(void **state)
{
	(void)state;
	wrapped.yield_takes = 3 * MSEC;
	yield_backoff(1);
	expect(1, 0);
	errno = ENOENT;
	yield_backoff(36);
	assert_int_equal(errno, ENOENT);
	expect(0, 36);
	uhcav_waits_no_more();
	wrapped.yield_takes = 1 * USEC;
	yield_backoff(100);
	expect(100, 0);
}

static void *another(void *arg)
{
	yield_backoff(10);
	return arg;
}

/* Another thread may have a processor of its own. */
static void test_of_each_thread(void **state)
{
	pthread_t t;

	(void)state;
	wrapped.yield_takes = 3 * MSEC;
	yield_backoff(1);
	wrapped.yield_takes = 0;
	wrapped.yields = 0;
	assert_int_equal(pthread_create(&t, NULL, another, NULL), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	expect(10, 0);
	yield_backoff(10);
	expect(0, 10);
}

/* What this thread has looked for in a row, of looks that take "takes" each. */
static void wait_anew(unsigned looks, uint64_t takes)
{
	wrapped.now += 1000 * MSEC; /* no backoff of another test */
	uhcav_waits_no_more();
	wrapped.yield_takes = takes;
	yield_backoff(looks);
}

static void test_waits(void **state)
{
	(void)state;
	wait_anew(7, 100 * USEC);
	assert_int_equal(uhcav_waits(), 0); /* long, and too few */
	yield_backoff(1);
	assert_int_equal(uhcav_waits(), wrapped.now);
	uhcav_waits_no_more();
	assert_int_equal(uhcav_waits(), 0);
	wait_anew(24, 1 * USEC);
	assert_int_equal(uhcav_waits(), 0); /* many, and too short */
	yield_backoff(1);
	assert_int_equal(uhcav_waits(), wrapped.now);
	/* Something else lies between: it begins anew. */
	wrapped.now += 4 * USEC;
	yield_backoff(24);
	assert_int_equal(uhcav_waits(), 0);
	wrapped.yields = 0;
}

static void test_long(void **state)
{
	(void)state;
	wait_anew(0, 1 * USEC);
	wrapped.yields = 0;
	for (unsigned i = 0; i < 10; i++)
		uhcav_yield_backoff_long();
	expect(7, 3);
	wrapped.now += 4 * USEC;
	uhcav_yield_backoff_long();
	expect(1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_yields),
		cmocka_unit_test(test_beside_a_yield_backoff),
		cmocka_unit_test(test_of_each_thread),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
