/* SPDX-License-Identifier: BSD-2-Clause */
/* The event queue of a network against a plain array of times. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/fabric/base/base.h"

#include <string.h>

#define SLOTS 300u

struct plain {
	uint64_t time[SLOTS];
	unsigned order[SLOTS];
	unsigned step;
};

static void plain_set(struct plain *p, unsigned slot, uint64_t time)
{
	p->time[slot] = time;
	p->order[slot] = ++p->step;
}

/* The slot that is due first: the one with the least time, of those the one set first. */
static unsigned plain_first(const struct plain *p)
{
	unsigned first = 0;

	for (unsigned i = 1; i < SLOTS; i++)
		if (p->time[i] < p->time[first] ||
		    (p->time[i] == p->time[first] && p->order[i] < p->order[first]))
			first = i;
	return first;
}

/* Now and then all are at one time, as senders that begin together; some are far away. */
static uint64_t some_delay(struct prng *r)
{
	static const uint32_t most[] = {1, 4, 50, 3000, 200000, 1u << 31};

	return prng_below(r, most[prng_below(r, 6)]) *
	       (prng_chance(r, 10000) ? UINT64_C(1) << 30 : 1);
}

static void change_some(struct fabric_calendar *c, struct plain *p, struct prng *r, uint64_t now)
{
	const bool together = prng_chance(r, 5000);
	const uint64_t delay = some_delay(r);

	for (unsigned i = 0; i < (together ? SLOTS : 2); i++) {
		const unsigned slot = together ? i : prng_below(r, SLOTS);
		const uint64_t time = prng_chance(r, 200000) ? FABRIC_NEVER
				      : together             ? now + delay
							     : now + some_delay(r);

		fabric_calendar_set(c, slot, time);
		plain_set(p, slot, time);
	}
}

static uint64_t take_some(struct fabric_calendar *c, struct plain *p, uint64_t now, uint64_t until)
{
	fabric_event e;

	while (fabric_calendar_take(c, until, &e)) {
		const unsigned slot = plain_first(p);

		assert_int_equal(fabric_event_slot(e), slot);
		assert_int_equal(fabric_event_time(e), p->time[slot]);
		assert_in_range(p->time[slot], now, until);
		assert_false(fabric_calendar_is_set(c, slot));
		now = p->time[slot];
		plain_set(p, slot, FABRIC_NEVER);
	}
	return now;
}

/* Of whatever width and number the buckets are. */
static void test_order(void **state)
{
	static const struct {
		uint64_t gap, span;
	} shapes[] = {{0, 0},       {1, 64},         {1000, 100000},
		      {7, 1000000}, {UINT64_MAX, 1}, {1, UINT64_MAX}};
	struct prng r = prng_start("test_calendar");
	struct fabric_calendar c;
	struct plain p;

	(void)state;
	for (unsigned shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
		uint64_t now = 0;

		assert_int_equal(
			fabric_calendar_init(&c, SLOTS, shapes[shape].gap, shapes[shape].span), 0);
		memset(&p, 0xff, sizeof(p));
		p.step = 0;
		for (unsigned step = 0; step < 6000; step++) {
			const uint64_t until = now + some_delay(&r);

			change_some(&c, &p, &r, now);
			assert_int_equal(fabric_calendar_next(&c), p.time[plain_first(&p)]);
			for (unsigned i = 0; i < SLOTS; i += 37)
				assert_int_equal(fabric_calendar_is_set(&c, i),
						 p.time[i] != FABRIC_NEVER);
			take_some(&c, &p, now, until);
			now = prng_chance(&r, 500000) ? until : now;
		}
		take_some(&c, &p, 0, FABRIC_NEVER);
		assert_int_equal(fabric_calendar_next(&c), FABRIC_NEVER);
		fabric_calendar_fini(&c);
	}
}

/* Time may stand still for long, and go on: what was far away then is in order with what is new. */
static void test_far(void **state)
{
	const uint64_t day = UINT64_C(86400) * 1000000000000;
	struct fabric_calendar c;
	fabric_event e;

	(void)state;
	assert_int_equal(fabric_calendar_init(&c, 4, 10, 1000), 0);
	fabric_calendar_set(&c, 0, 2 * day);
	fabric_calendar_set(&c, 1, day);
	assert_false(fabric_calendar_take(&c, day - 1, &e));
	fabric_calendar_set(&c, 2, day - 1);
	assert_true(fabric_calendar_take(&c, day - 1, &e));
	assert_int_equal(fabric_event_slot(e), 2);
	fabric_calendar_set(&c, 3, day + 1);
	fabric_calendar_set(&c, 2, 2 * day + 1);
	for (unsigned i = 0; i < 4; i++) {
		static const unsigned expected[] = {1, 3, 0, 2};

		assert_true(fabric_calendar_take(&c, FABRIC_NEVER, &e));
		assert_int_equal(fabric_event_slot(e), expected[i]);
	}
	assert_false(fabric_calendar_take(&c, FABRIC_NEVER, &e));
	fabric_calendar_fini(&c);
}

static unsigned rows[SLOTS];

static void come_near(const void *user, uint32_t slot, unsigned row)
{
	(void)user;
	assert_in_range(row, 1, 3);
	rows[slot] = row;
}

/* Those that become the next ones are told before, and what is far away is not. */
static void test_near(void **state)
{
	struct fabric_calendar c;
	unsigned told = 0;
	fabric_event e;

	(void)state;
	assert_int_equal(fabric_calendar_init(&c, SLOTS, 1, 100), 0);
	c.near = come_near;
	for (unsigned i = 0; i < SLOTS; i++)
		fabric_calendar_set(&c, i, 1000 - i);
	for (unsigned i = 0; i < 200; i++) {
		assert_true(fabric_calendar_take(&c, 1000, &e));
		told += rows[fabric_event_slot(e)] == 1;
	}
	assert_in_range(told, 190, 200);
	assert_int_equal(rows[0], 0);
	fabric_calendar_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
