/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Yields as long as they are short; sleeps instead, for 2 ms and more, after one that took a slice
 * of somebody who computes, and where a long wait is known to be one. The clock is the test's.
 */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/give_way.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define USEC 1000ull
#define MSEC 1000000ull

static uint64_t now = 7 * MSEC;
static uint64_t yield_takes;
static unsigned yields, sleeps;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_sched_yield(void);
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(now / (1000 * MSEC));
	t->tv_nsec = (long)(now % (1000 * MSEC));
	return 0;
}

int __wrap_sched_yield(void)
{
	yields++;
	now += yield_takes;
	return 0;
}

/* One that a signal interrupts: its errno is not the caller's. */
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
	assert_true(t->tv_sec == 0 && t->tv_nsec <= (long)USEC);
	assert_null(rest);
	sleeps++;
	now += 50 * USEC;
	errno = EINTR;
	return -1;
}

static void give_way(unsigned n)
{
	while (n--)
		uhcav_give_way();
}

static void expect(unsigned want_yields, unsigned want_sleeps)
{
	assert_int_equal(yields, want_yields);
	assert_int_equal(sleeps, want_sleeps);
	yields = sleeps = 0;
}

static void test_short_yields(void **state)
{
	(void)state;
	yield_takes = 900 * USEC;
	give_way(1000);
	expect(1000, 0);
}

/* 2 ms are forty sleeps; then it is tried again. */
static void test_beside_a_hog(void **state)
{
	(void)state;
	yield_takes = 3 * MSEC;
	give_way(1);
	expect(1, 0);
	errno = ENOENT;
	give_way(40);
	assert_int_equal(errno, ENOENT);
	expect(0, 40);
	yield_takes = 1 * USEC;
	give_way(100);
	expect(100, 0);
}

static void *another(void *arg)
{
	give_way(10);
	return arg;
}

/* Another thread may have a processor of its own. */
static void test_of_each_thread(void **state)
{
	pthread_t t;

	(void)state;
	yield_takes = 3 * MSEC;
	give_way(1);
	yield_takes = 0;
	yields = 0;
	assert_int_equal(pthread_create(&t, NULL, another, NULL), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	expect(10, 0);
	give_way(10);
	expect(0, 10);
}

/* What this thread has looked for in a row, of looks that take "takes" each. */
static void wait_anew(unsigned looks, uint64_t takes)
{
	now += 1000 * MSEC; /* no hog of another test */
	uhcav_waits_no_more();
	yield_takes = takes;
	give_way(looks);
}

static void test_waits(void **state)
{
	(void)state;
	wait_anew(7, 100 * USEC);
	assert_int_equal(uhcav_waits(), 0); /* long, and too few */
	give_way(1);
	assert_int_equal(uhcav_waits(), now);
	uhcav_waits_no_more();
	assert_int_equal(uhcav_waits(), 0);
	wait_anew(24, 1 * USEC);
	assert_int_equal(uhcav_waits(), 0); /* many, and too short */
	give_way(1);
	assert_int_equal(uhcav_waits(), now);
	/* Something else lies between: it begins anew. */
	now += 4 * USEC;
	give_way(24);
	assert_int_equal(uhcav_waits(), 0);
	yields = 0;
}

static void test_long(void **state)
{
	(void)state;
	wait_anew(0, 1 * USEC);
	yields = 0;
	for (unsigned i = 0; i < 10; i++)
		uhcav_give_way_long();
	expect(7, 3);
	now += 4 * USEC;
	uhcav_give_way_long();
	expect(1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_yields),   cmocka_unit_test(test_beside_a_hog),
		cmocka_unit_test(test_of_each_thread), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
