/* SPDX-License-Identifier: BSD-2-Clause */
/* Responder resources: the newest are found by any of their PSNs, answers leave in order. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/replay.h"

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

static void add(struct replay *r, uint32_t psn, uint32_t n)
{
	struct replay_entry e = read_entry(psn, n);

	assert_true(replay_has_room(r));
	replay_add(r, &e);
}

static void test_find_and_evict(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, 4), 0);
	for (uint32_t i = 0; i < 6; i++) {
		add(&r, 100 + 10 * i, 10);
		assert_int_equal(replay_head(&r)->psn, 100 + 10 * i);
		replay_done(replay_head(&r));
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

	(void)state;
	assert_int_equal(replay_construct(&r, 1), 0);
	add(&r, 0xfffffe, 5);
	assert_non_null(replay_find(&r, 2));
	assert_null(replay_find(&r, 3));
	replay_destruct(&r);
}

/* The peer may not have more under way than agreed, but duplicates take no room. */
static void test_room(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, 2), 0);
	add(&r, 1, 1);
	add(&r, 2, 1);
	assert_false(replay_has_room(&r));
	replay_done(replay_head(&r));
	assert_true(replay_has_room(&r));
	replay_again(&r, replay_find(&r, 1), 0, 0);
	assert_true(replay_has_room(&r));
	add(&r, 3, 1); /* takes the place of 1 and of its second answer */
	assert_int_equal(replay_head(&r)->psn, 2);
	replay_cancel(&r);
	assert_null(replay_head(&r));
	replay_clear(&r);
	assert_null(replay_find(&r, 2));
	replay_destruct(&r);
}

/* Answers leave in the order of their PSNs, whenever they were asked for. */
static void test_order(void **state)
{
	struct replay r;

	(void)state;
	assert_int_equal(replay_construct(&r, 3), 0);
	for (uint32_t i = 1; i <= 3; i++)
		add(&r, i, 1);
	for (uint32_t i = 1; i <= 2; i++)
		replay_done(replay_head(&r));
	replay_again(&r, replay_find(&r, 2), 0, 0);
	assert_int_equal(replay_head(&r)->psn, 2);
	replay_again(&r, replay_find(&r, 1), 0, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(replay_head(&r)->psn, i);
		replay_done(replay_head(&r));
	}
	assert_null(replay_head(&r));
	replay_destruct(&r);
}

/* A duplicate sets an answer under way back, never forward. */
static void test_set_back(void **state)
{
	struct replay r;
	struct replay_entry e = {.kind = REPLAY_READ, .psn = 7, .n_psn = 8, .length = 8192};

	(void)state;
	assert_int_equal(replay_construct(&r, 2), 0);
	replay_add(&r, &e);
	replay_head(&r)->sent = 4096;
	replay_again(&r, replay_find(&r, 7), 6144, 8192);
	assert_int_equal(replay_head(&r)->sent, 4096);
	replay_again(&r, replay_find(&r, 8), 1024, 8192);
	assert_int_equal(replay_head(&r)->sent, 1024);
	assert_int_equal(replay_head(&r)->start, 1024);
	assert_int_equal(replay_head(&r)->end, 8192);
	replay_destruct(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),    cmocka_unit_test(test_find_and_evict),
		cmocka_unit_test(test_psn_wrap), cmocka_unit_test(test_room),
		cmocka_unit_test(test_order),    cmocka_unit_test(test_set_back),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
