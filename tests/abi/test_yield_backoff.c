/* SPDX-License-Identifier: BSD-2-Clause */
/* One long yield keeps from the next for a moment, those that follow each other for longer. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/yield_backoff.h"

#define MSEC 1000000ull

static uint64_t now;

static void yield(struct uhca_yield_backoff *h, uint64_t takes)
{
	uhca_yield_backoff_yielded(h, now, now + takes);
	now += takes;
}

/* How long no yield is made from now on. */
static uint64_t kept_from(const struct uhca_yield_backoff *h)
{
	uint64_t time = 0;

	while (uhca_yield_backoff_is_near(h, now + time))
		time += MSEC / 2;
	return time;
}

static void test_nobody(void **state)
{
	struct uhca_yield_backoff h = {0};

	(void)state;
	now = 7 * MSEC;
	assert_false(uhca_yield_backoff_is_near(&h, now));
	for (unsigned i = 0; i < 100; i++) {
		yield(&h, MSEC);
		assert_false(uhca_yield_backoff_is_near(&h, now));
	}
}

/* A guest whose host was away: the moment it costs does not grow, however often that is. */
static void test_absence(void **state)
{
	struct uhca_yield_backoff h = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		yield(&h, 5 * MSEC);
		assert_int_equal(kept_from(&h), 2 * MSEC);
		now += kept_from(&h);
		for (unsigned k = 0; k < 30; k++)
			yield(&h, MSEC / 100);
	}
}

/* One that computes is met each time. */
static void test_yield_backoff(void **state)
{
	static const unsigned ms[] = {2, 4, 8, 16, 32, 50, 50, 50};
	struct uhca_yield_backoff h = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		yield(&h, 3 * MSEC);
		assert_int_equal(kept_from(&h), ms[i] * MSEC);
		now += kept_from(&h);
	}
	/* It may be ready now and then only. */
	yield(&h, MSEC / 100);
	yield(&h, 3 * MSEC);
	assert_int_equal(kept_from(&h), 50 * MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_absence),
		cmocka_unit_test(test_yield_backoff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
