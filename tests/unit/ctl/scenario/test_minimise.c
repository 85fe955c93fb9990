/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for the rules that matter, over made-up failures: those that need certain parts
 * together, those that any of some parts makes, and those that cannot be tried.
 */
#include "emu/ctl/scenario/minimise.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <stdio.h>
#include <string.h>

#define PARTS 200

struct failure {
	bool needs[PARTS]; /* all of these */
	unsigned any[2];   /* and one of these; equal: only that one */
	bool with_any;
	unsigned trials;
	unsigned broken_at; /* this trial cannot be run; 0: none */
};

static int fails(void *arg, const bool keep[], unsigned n)
{
	struct failure *f = arg;

	f->trials++;
	if (f->trials == f->broken_at)
		return -5;
	for (unsigned i = 0; i < n; i++)
		if (f->needs[i] && !keep[i])
			return 0;
	return !f->with_any || keep[f->any[0]] || keep[f->any[1]];
}

static void test_exact(void **state)
{
	struct prng rng = prng_start("test_minimise");

	(void)state;

	for (unsigned round = 0; round < 300; round++) {
		struct failure f = {.broken_at = 0};
		unsigned n = 1 + (unsigned)prng_below(&rng, PARTS);
		unsigned k = 1 + (unsigned)prng_below(&rng, 5);
		bool keep[PARTS];
		int trials;

		for (unsigned i = 0; i < k; i++)
			f.needs[prng_below(&rng, n)] = true;
		trials = minimise(n, keep, fails, &f);
		assert_int_equal(trials, f.trials);
		assert_memory_equal(keep, f.needs, n * sizeof(keep[0]));
		/* what the paper proves */
		assert_true(f.trials <= n * n + 3 * n);
	}
}

static void test_one_of_two(void **state)
{
	struct failure f = {.with_any = true, .any = {3, 90}};
	bool keep[100];
	unsigned kept = 0;

	(void)state;
	f.needs[50] = true;
	assert_true(minimise(100, keep, fails, &f) > 0);
	for (unsigned i = 0; i < 100; i++)
		kept += keep[i];
	assert_int_equal(kept, 2);
	assert_true(keep[50]);
	assert_true(keep[3] != keep[90]);
}

static void test_all_needed(void **state)
{
	struct failure f = {.broken_at = 0};
	bool keep[40];

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		f.needs[i] = true;
	assert_true(minimise(40, keep, fails, &f) > 0);
	assert_memory_equal(keep, f.needs, sizeof(keep));
}

static void test_one(void **state)
{
	struct failure f = {.needs = {true}};
	bool keep[1];

	(void)state;
	assert_int_equal(minimise(1, keep, fails, &f), 0);
	assert_true(keep[0]);
}

static void test_trial_that_cannot_be_run(void **state)
{
	struct failure f = {.needs = {true, false, true}, .broken_at = 3};
	bool keep[8];

	(void)state;
	assert_int_equal(minimise(8, keep, fails, &f), -5);
	assert_int_equal(f.trials, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_all_needed),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_trial_that_cannot_be_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
