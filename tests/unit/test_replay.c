/* SPDX-License-Identifier: BSD-2-Clause */
/* Responder resources: the newest are found by any of their PSNs, answers leave in order. */
#include "../support/cmocka_all.h"

#include "replay.h"

#include <errno.h>

static struct replay_entry read_entry(uint32_t psn, uint32_t n)
{
	return (struct replay_entry){.kind = REPLAY_READ, .psn = psn, .n_psn = n, .va = psn};
}

static void test_sizes(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, REPLAY_MAX + 1), -EINVAL);
	assert_int_equal(replay_construct(&r, 0), 0);
	assert_false(replay_has_room(&r));
	assert_null(replay_find(&r, 0));
	replay_destruct(&r);
}

static void test_find_and_evict(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, 4), 0);
	for (uint32_t i = 0; i < 6; i++) {
		struct replay_entry e = read_entry(100 + 10 * i, 10);
		replay_add(&r, &e);
		assert_int_equal(replay_head(&r)->e.psn, e.psn);
		replay_pop(&r);
	}
	assert_null(replay_find(&r, 115)); /* the two oldest are gone */
	assert_int_equal(replay_find(&r, 120)->psn, 120);
	assert_int_equal(replay_find(&r, 129)->psn, 120);
	assert_int_equal(replay_find(&r, 159)->psn, 150);
	assert_null(replay_find(&r, 160));
	replay_destruct(&r);
}

static void test_psn_wrap(void **state)
{
	struct replay r;
	struct replay_entry e = read_entry(0xfffffe, 5);

	(void)state;
	assert_int_equal(replay_construct(&r, 1), 0);
	replay_add(&r, &e);
	assert_non_null(replay_find(&r, 2));
	assert_null(replay_find(&r, 3));
	replay_destruct(&r);
}

static void test_answers_in_order(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, 3), 0);
	for (uint32_t round = 0; round < 5; round++) {
		struct replay_entry a = read_entry(1, 1), b = read_entry(2, 1),
				    c = read_entry(3, 1), d = read_entry(4, 1);
		replay_add(&r, &a);
		replay_answer_again(&r, &b);
		replay_add(&r, &c);
		assert_true(replay_has_room(&r));
		replay_add(&r, &d);
		assert_false(replay_has_room(&r));
		assert_true(replay_has_room_again(&r));
		for (uint32_t i = 1; i <= 4; i++) {
			assert_int_equal(replay_head(&r)->e.psn, i);
			assert_int_equal(replay_head(&r)->sent, 0);
			replay_pop(&r);
		}
		assert_null(replay_head(&r));
	}
	replay_clear(&r);
	assert_null(replay_find(&r, 1));
	replay_destruct(&r);
}

/* Duplicates fill their own half, whatever new requests do. */
static void test_duplicates_take_no_room(void **state)
{
	struct replay r;
	struct replay_entry e = read_entry(7, 1);

	(void)state;
	assert_int_equal(replay_construct(&r, 2), 0);
	replay_answer_again(&r, &e);
	replay_answer_again(&r, &e);
	assert_false(replay_has_room_again(&r));
	assert_true(replay_has_room(&r));
	replay_add(&r, &e);
	replay_add(&r, &e);
	assert_false(replay_has_room(&r));
	replay_pop(&r);
	assert_true(replay_has_room_again(&r));
	assert_false(replay_has_room(&r));
	replay_drop_answers(&r);
	assert_null(replay_head(&r));
	assert_true(replay_has_room(&r));
	replay_destruct(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_find_and_evict),
		cmocka_unit_test(test_psn_wrap),
		cmocka_unit_test(test_answers_in_order),
		cmocka_unit_test(test_duplicates_take_no_room),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
