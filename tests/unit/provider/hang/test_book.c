/* SPDX-License-Identifier: BSD-2-Clause */
/* Since when a completion queue stands still, and since when it is polled in vain. */
#include "tests/support/provider/watched_cq.h"
#include "tests/support/wire/cmocka_all.h"

static void poll_in_vain(struct watched_cq *w)
{
	uhcav_hang_polled(&w->cq, 0, (struct uhcav_here){0});
}

static void take_one(struct watched_cq *w)
{
	uhcav_hang_polled(&w->cq, 1, (struct uhcav_here){0});
}

/* As the program does, tick by tick. */
static void test_polls_on(void **state)
{
	struct watched_cq *w = *state;

	for (uint64_t now = 1; now <= 6; now++) {
		poll_in_vain(w);
		uhcav_hang_look(now);
	}
	assert_int_equal(w->hang.since, 1);
	assert_true(uhcav_hang_polls_on(&w->hang, 6, 4));
	assert_false(uhcav_hang_polls_on(&w->hang, 6, 5)); /* the first tick began it */
	uhcav_hang_look(7);
	assert_false(uhcav_hang_polls_on(&w->hang, 7, 4)); /* it polls no more */
	poll_in_vain(w);
	uhcav_hang_look(8);
	assert_true(uhcav_hang_polls_on(&w->hang, 8, 4)); /* it slept */
}

/* It took a completion, was held up in the next call, and polls once. */
static void test_held_up(void **state)
{
	struct watched_cq *w = *state;

	for (uint64_t now = 1; now <= 3; now++) {
		poll_in_vain(w);
		uhcav_hang_look(now);
	}
	take_one(w);
	for (uint64_t now = 4; now <= 9; now++)
		uhcav_hang_look(now);
	poll_in_vain(w);
	uhcav_hang_look(10);
	assert_int_equal(w->hang.since, 4);
	assert_false(uhcav_hang_polls_on(&w->hang, 10, 4));
	for (uint64_t now = 11; now <= 14; now++) {
		poll_in_vain(w);
		uhcav_hang_look(now);
	}
	assert_true(uhcav_hang_polls_on(&w->hang, 14, 4));
}

/* What comes between the look and the finding ends the hang. */
static void test_stay(void **state)
{
	struct watched_cq *w = *state;

	uhcav_hang_look(1);
	poll_in_vain(w);
	assert_true(uhcav_hang_queues_stay());
	w->entry.sequence = 1; /* a completion */
	assert_false(uhcav_hang_queues_stay());
	uhcav_hang_look(2);
	assert_true(uhcav_hang_queues_stay());
	take_one(w);
	assert_false(uhcav_hang_queues_stay());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_polls_on, watched_cq_setup),
		cmocka_unit_test_setup(test_held_up, watched_cq_setup),
		cmocka_unit_test_setup(test_stay, watched_cq_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
