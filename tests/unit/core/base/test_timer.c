/* SPDX-License-Identifier: BSD-2-Clause */
/* Timer heap against a plain array of deadlines. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/base/timer.h"

#include <errno.h>
#include <stdlib.h>

#define TIMERS 200
#define NEVER  UINT64_MAX

struct clockwork {
	struct timer timer;
	uint64_t due; /* model: NEVER when not set */
	unsigned fired;
	uint64_t fired_at;
	struct clockwork *log; /* head of the list of those fired, newest first */
	struct timer_heap *heap;
	uint64_t again; /* set again to this when it fires; 0: not */
};

static uint64_t last_fired_deadline; /* of the run; they come in order */

static void on_fire(struct timer *t, uint64_t now)
{
	struct clockwork *c = (struct clockwork *)t;

	assert_false(timer_is_set(t));
	assert_true(t->deadline <= now);
	assert_true(t->deadline >= last_fired_deadline);
	last_fired_deadline = t->deadline;
	c->fired++;
	c->fired_at = now;
	c->due = NEVER;
	if (c->again) {
		timer_set(c->heap, t, c->again);
		c->due = c->again;
	}
}

static void prepare(struct clockwork *c, unsigned n, struct timer_heap *h)
{
	timer_heap_construct(h);
	assert_int_equal(timer_heap_reserve(h, n), 0);
	for (unsigned i = 0; i < n; i++)
		c[i] = (struct clockwork){.timer.fire = on_fire, .due = NEVER, .heap = h};
	last_fired_deadline = 0;
}

static uint64_t earliest(const struct clockwork *c, unsigned n)
{
	uint64_t min = NEVER;
	for (unsigned i = 0; i < n; i++)
		min = c[i].due < min ? c[i].due : min;
	return min;
}

static void test_empty(void **state)
{
	struct timer_heap h;

	(void)state;
	timer_heap_construct(&h);
	assert_true(timer_heap_next(&h) == NEVER);
	timer_heap_run(&h, NEVER);
	assert_int_equal(timer_heap_reserve(&h, UINT32_MAX), -ENOMEM);
	timer_heap_destruct(&h);
}

static void test_set_move_cancel(void **state)
{
	struct clockwork c[2];
	struct timer_heap h;

	(void)state;
	prepare(c, 2, &h);
	timer_set(&h, &c[0].timer, 100);
	timer_set(&h, &c[1].timer, 50);
	assert_int_equal(timer_heap_next(&h), 50);
	timer_set(&h, &c[1].timer, 150);
	assert_int_equal(timer_heap_next(&h), 100);
	timer_cancel(&h, &c[0].timer);
	timer_cancel(&h, &c[0].timer);
	assert_false(timer_is_set(&c[0].timer));
	assert_int_equal(timer_heap_next(&h), 150);
	timer_heap_run(&h, 149);
	assert_int_equal(c[1].fired, 0);
	timer_heap_run(&h, 150);
	assert_int_equal(c[1].fired, 1);
	assert_int_equal(c[0].fired, 0);
	assert_true(timer_heap_next(&h) == NEVER);
	timer_heap_destruct(&h);
}

/* While the clock stands nothing is due; what was set before and meanwhile comes so much later. */
static void test_standing_clock(void **state)
{
	struct clockwork c[2];
	struct timer_heap h;

	(void)state;
	prepare(c, 2, &h);
	timer_set(&h, &c[0].timer, 100);
	timer_heap_stand(&h, true, 40);
	timer_heap_stand(&h, true, 60);
	assert_true(timer_heap_next(&h) == NEVER);
	timer_heap_run(&h, 5000);
	assert_int_equal(c[0].fired, 0);
	timer_set(&h, &c[1].timer, timer_heap_time(&h, 900) + 10);
	timer_heap_stand(&h, false, 1040);
	timer_heap_stand(&h, false, 2000);
	assert_int_equal(timer_heap_time(&h, 1050), 50);
	assert_int_equal(timer_heap_next(&h), 1050);
	timer_heap_run(&h, 1099);
	assert_int_equal(c[1].fired, 1);
	assert_int_equal(c[1].fired_at, 1099);
	assert_int_equal(c[0].fired, 0);
	timer_heap_stand(&h, true, 1099);
	timer_heap_stand(&h, false, 1199);
	assert_int_equal(timer_heap_next(&h), 1200);
	timer_heap_run(&h, 1200);
	assert_int_equal(c[0].fired, 1);
	timer_heap_destruct(&h);
}

/* Time that does not count: all comes so much later; a clock that stands has none to leave out. */
static void test_skipped_time(void **state)
{
	struct clockwork c[2];
	struct timer_heap h;

	(void)state;
	prepare(c, 2, &h);
	timer_set(&h, &c[0].timer, 100);
	timer_heap_skip(&h, 70);
	assert_int_equal(timer_heap_next(&h), 170);
	assert_int_equal(timer_heap_time(&h, 90), 20);
	timer_set(&h, &c[1].timer, timer_heap_time(&h, 90) + 10);
	timer_heap_run(&h, 169);
	assert_int_equal(c[0].fired, 0);
	assert_int_equal(c[1].fired, 1);
	timer_heap_stand(&h, true, 169);
	timer_heap_skip(&h, 50);
	timer_heap_stand(&h, false, 269);
	assert_int_equal(timer_heap_next(&h), 270);
	timer_heap_destruct(&h);
}

/* A clock ten times slower than the caller's, which is told how far it has gone. */
static void test_slow_clock(void **state)
{
	struct clockwork c[1];
	struct timer_heap h;

	(void)state;
	prepare(c, 1, &h);
	h.slow = 10;
	assert_int_equal(timer_heap_time(&h, 1000), 100);
	timer_set(&h, &c[0].timer, 150);
	assert_int_equal(timer_heap_next(&h), 1500);
	timer_heap_pass(&h, 1000, 100);
	assert_int_equal(timer_heap_time(&h, 1000), 100);
	assert_int_equal(timer_heap_next(&h), 1500);
	/* It was to be at 120, and has stood still for a while. */
	timer_heap_pass(&h, 1200, 5);
	assert_int_equal(timer_heap_time(&h, 1200), 105);
	assert_int_equal(timer_heap_time(&h, 1249), 109);
	assert_int_equal(timer_heap_next(&h), 1200 + 45 * 10);
	/* Several steps at one time of the caller. */
	timer_heap_pass(&h, 1200, 40);
	assert_int_equal(timer_heap_next(&h), 1250);
	timer_heap_run(&h, 1249);
	assert_int_equal(c[0].fired, 0);
	timer_heap_pass(&h, 1200, 5);
	assert_int_equal(timer_heap_next(&h), 1200);
	/* One that stands does not go on. */
	timer_heap_stand(&h, true, 1200);
	timer_heap_pass(&h, 1300, 50);
	timer_heap_stand(&h, false, 1400);
	assert_int_equal(timer_heap_time(&h, 1400), 150);
	timer_heap_run(&h, 1400);
	assert_int_equal(c[0].fired, 1);
	timer_heap_destruct(&h);
}

/* A timer that sets itself to what is past already does not hold up the run. */
static void test_again_in_the_past(void **state)
{
	struct clockwork c[3];
	struct timer_heap h;

	(void)state;
	prepare(c, 3, &h);
	c[0].again = 10;
	timer_set(&h, &c[0].timer, 10);
	timer_heap_run(&h, 20);
	assert_int_equal(c[0].fired, 1);
	assert_int_equal(timer_heap_next(&h), 10);
	timer_heap_run(&h, 20);
	assert_int_equal(c[0].fired, 2);
	timer_heap_destruct(&h);
}

/* One timer's fire may cancel another that is due as well. */
static struct clockwork *victim;

static void on_fire_cancel(struct timer *t, uint64_t now)
{
	on_fire(t, now);
	timer_cancel(victim->heap, &victim->timer);
}

static void test_cancel_from_fire(void **state)
{
	struct clockwork c[2];
	struct timer_heap h;

	(void)state;
	prepare(c, 2, &h);
	c[0].timer.fire = on_fire_cancel;
	victim = &c[1];
	timer_set(&h, &c[0].timer, 10);
	timer_set(&h, &c[1].timer, 11);
	timer_heap_run(&h, UINT64_MAX);
	assert_int_equal(c[0].fired, 1);
	assert_int_equal(c[1].fired, 0);
	timer_heap_destruct(&h);
}

static void run_and_check(struct clockwork *c, struct timer_heap *h, uint64_t now)
{
	unsigned expected[TIMERS];

	for (unsigned i = 0; i < TIMERS; i++)
		expected[i] = c[i].fired + (c[i].due <= now);
	last_fired_deadline = 0;
	do
		timer_heap_run(h, now);
	while (timer_heap_next(h) <= now);
	for (unsigned i = 0; i < TIMERS; i++)
		assert_int_equal(c[i].fired, expected[i]);
}

/* Those that are due at once do not hold up others: some of them, the oldest, then the next. */
static void test_some_at_once(void **state)
{
	struct clockwork c[3 * TIMERS_AT_ONCE];
	struct timer_heap h;

	(void)state;
	prepare(c, 3 * TIMERS_AT_ONCE, &h);
	for (unsigned i = 0; i < 3 * TIMERS_AT_ONCE; i++)
		timer_set(&h, &c[i].timer, c[i].due = 10 + i);
	for (unsigned part = 1; part <= 3; part++) {
		unsigned fired = 0;

		assert_true(timer_heap_next(&h) <= 1000);
		timer_heap_run(&h, 1000);
		for (unsigned i = 0; i < 3 * TIMERS_AT_ONCE; i++)
			fired += c[i].fired;
		assert_int_equal(fired, part * TIMERS_AT_ONCE);
		assert_int_equal(c[part * TIMERS_AT_ONCE - 1].fired, 1);
	}
	assert_true(timer_heap_next(&h) == NEVER);
	timer_heap_destruct(&h);
}

static void test_model(void **state)
{
	struct prng r = prng_start("test_timer");
	struct clockwork *c = calloc(TIMERS, sizeof(*c));
	struct timer_heap h;
	uint64_t now = 0;

	(void)state;
	assert_non_null(c);
	prepare(c, TIMERS, &h);
	for (int step = 0; step < 50000; step++) {
		struct clockwork *one = &c[prng_below(&r, TIMERS)];
		uint32_t what = prng_below(&r, 10);
		if (what < 6) {
			one->due = now + prng_below(&r, 1000);
			timer_set(&h, &one->timer, one->due);
		} else if (what < 8) {
			timer_cancel(&h, &one->timer);
			one->due = NEVER;
		} else {
			now += prng_below(&r, 100);
			run_and_check(c, &h, now);
		}
		assert_int_equal(timer_is_set(&one->timer), one->due != NEVER);
		assert_true(timer_heap_next(&h) == earliest(c, TIMERS));
	}
	timer_heap_destruct(&h);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_some_at_once),
		cmocka_unit_test(test_set_move_cancel),
		cmocka_unit_test(test_standing_clock),
		cmocka_unit_test(test_skipped_time),
		cmocka_unit_test(test_slow_clock),
		cmocka_unit_test(test_again_in_the_past),
		cmocka_unit_test(test_cancel_from_fire),
		cmocka_unit_test(test_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
