/* SPDX-License-Identifier: BSD-2-Clause */
/* The event queue against a plain array of times, and random numbers against known values. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/fabric/base/base.h"

#include <stdlib.h>

#define SLOTS 300u

/* The slot that is due first: the one with the least time, of those the one set first. */
static unsigned expected(const uint64_t *time, const unsigned *order)
{
	unsigned first = 0;

	for (unsigned i = 1; i < SLOTS; i++)
		if (time[i] < time[first] || (time[i] == time[first] && order[i] < order[first]))
			first = i;
	return first;
}

static void test_order(void **state)
{
	struct prng r = prng_start("test_events");
	uint32_t positions[SLOTS] = {0};
	uint64_t time[SLOTS];
	unsigned order[SLOTS] = {0};
	struct fabric_events q;

	(void)state;
	assert_int_equal(fabric_events_init(&q, SLOTS, positions), 0);
	q.order = UINT32_MAX - 1000; /* it gets longer on the way */
	for (unsigned i = 0; i < SLOTS; i++)
		time[i] = FABRIC_NEVER;
	for (unsigned step = 1; step < 20000; step++) {
		const unsigned slot = prng_below(&r, SLOTS);

		time[slot] = prng_chance(&r, 300000) ? FABRIC_NEVER : prng_below(&r, 50);
		order[slot] = step;
		fabric_events_set(&q, slot, time[slot]);
		const unsigned first = expected(time, order);

		assert_int_equal(fabric_events_next(&q), time[first]);
		if (time[first] != FABRIC_NEVER)
			assert_int_equal(fabric_events_first(&q), first);
		for (unsigned i = 0; i < SLOTS; i += 37)
			assert_int_equal(fabric_events_is_set(&q, i), time[i] != FABRIC_NEVER);
	}
	fabric_events_fini(&q);
}

/* The store hands out each packet once, and grows only when all are out. */
static void test_store(void **state)
{
	struct fabric_packet *p[1024], *more;
	struct fabric_store s;

	(void)state;
	fabric_store_init(&s);
	for (unsigned i = 0; i < 1024; i++) {
		p[i] = fabric_store_get(&s);
		p[i]->psn = i;
	}
	assert_int_equal(s.total, 1024);
	more = fabric_store_get(&s);
	assert_int_equal(s.total, 2048);
	for (unsigned i = 0; i < 1024; i++)
		assert_int_equal(p[i]->psn, i);
	fabric_store_put(&s, more);
	assert_ptr_equal(fabric_store_get(&s), more);
	fabric_store_fini(&s);
}

/* ln 2 = 0.693147, ln 4 = 1.386294, ln(2^32) = 22.180710, in 2^-32. */
static void test_random(void **state)
{
	uint64_t seed = 1, sum = 0;

	(void)state;
	assert_int_equal(fabric_minus_log(UINT64_C(1) << 32), 0);
	assert_in_range(fabric_minus_log(UINT64_C(1) << 31), 2977044470u, 2977044473u);
	assert_in_range(fabric_minus_log(UINT64_C(1) << 30), 5954088940u, 5954088946u);
	assert_in_range(fabric_minus_log(1), UINT64_C(95265423080), UINT64_C(95265423200));
	/* -ln(0.9) = 0.1053605157 */
	assert_in_range(fabric_minus_log(3865470566u), 452519960u, 452519970u);
	for (unsigned i = 0; i < 100000; i++)
		sum += fabric_random_gap(&seed, 1000000);
	/* The mean of 100000 exponential gaps is within 1.3 % (four standard deviations). */
	assert_in_range(sum / 100000, 987000, 1013000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
