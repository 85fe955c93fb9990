/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of ids and joins, and the share of a process: the smallest free one is given, whatever
 * the order in which they came back; a process has as many as it leaves to the others.
 */
#include "emu/io/ucma/ucma_file.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <errno.h>
#include <stdlib.h>

#define SOME 5000u

static struct io_ucma u;
static int object;

static int setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < UCMA_OWNER_BUCKETS; i++)
		LIST_INIT(&u.owners[i]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(u.numbers.slot);
	free(u.numbers.free);
	u = (struct io_ucma){0};
	return 0;
}

static uint32_t smallest_free(const bool used[SOME])
{
	uint32_t i = 0;

	while (used[i])
		i++;
	return i;
}

static void test_smallest(void **state)
{
	static bool used[SOME + 1];
	struct ucma_owner *o = ucma_owner_get(&u, 1);
	struct prng rng = prng_start("test_ucma_number");
	uint32_t number;

	(void)state;
	for (unsigned i = 0; i < 4 * SOME; i++) {
		uint32_t which = prng_below(&rng, SOME);

		if (used[which]) {
			ucma_number_release(o, which);
			used[which] = false;
			assert_null(ucma_number_find(&u, which));
		} else if (o->numbers < SOME) {
			assert_int_equal(ucma_number_take(o, &object, &number), 0);
			assert_int_equal(number, smallest_free(used));
			assert_ptr_equal(ucma_number_find(&u, number), &object);
			used[number] = true;
		}
	}
	for (uint32_t i = 0; i < SOME; i++)
		if (used[i])
			ucma_number_release(o, i);
	assert_int_equal(o->numbers, 0);
	ucma_owner_put(o);
}

/* The first process has half of them, the second half of the rest, and there is always one more. */
static void test_share(void **state)
{
	struct ucma_owner *o[3];
	uint32_t left = UCMA_NUMBERS, number;

	(void)state;
	for (int i = 0; i < 3; i++) {
		o[i] = ucma_owner_get(&u, 100 + i);
		while (ucma_number_take(o[i], &object, &number) == 0)
			assert_true(number < UCMA_NUMBERS);
		assert_int_equal(o[i]->numbers, left / 2);
		left -= left / 2;
	}
	for (uint32_t i = 0; i < u.numbers.used_once; i++)
		ucma_number_release(o[i < UCMA_NUMBERS / 2       ? 0
				      : i < UCMA_NUMBERS / 4 * 3 ? 1
								 : 2],
				    i);
	for (unsigned i = 0; i < 3; i++)
		ucma_owner_put(o[i]);
}

/* One account for all files of a process, which ends with the last of them. */
static void test_account(void **state)
{
	struct ucma_owner *a = ucma_owner_get(&u, 7), *b = ucma_owner_get(&u, 7),
			  *c = ucma_owner_get(&u, 7 + UCMA_OWNER_BUCKETS);

	(void)state;
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	ucma_owner_put(a);
	assert_ptr_equal(ucma_owner_get(&u, 7), b);
	ucma_owner_put(b);
	ucma_owner_put(b);
	ucma_owner_put(c);
	for (unsigned i = 0; i < UCMA_OWNER_BUCKETS; i++)
		assert_true(LIST_EMPTY(&u.owners[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_smallest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_share, setup, teardown),
		cmocka_unit_test_setup_teardown(test_account, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
