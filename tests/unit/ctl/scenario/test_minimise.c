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
	unsigned passes;    /* so many tries pass though they have all parts that are needed */
	int other;          /* status where the parts are not there */
	unsigned broken_at; /* this trial cannot be run; 0: none */
};

static int run(struct minimise *m)
{
	struct failure *f = m->arg;
	const bool *keep = m->keep;

	f->trials++;
	if (f->trials == f->broken_at)
		return -5;
	for (unsigned i = 0; i < m->n; i++)
		if (f->needs[i] && !keep[i])
			return f->other;
	if (f->passes > 0) {
		f->passes--;
		return 0;
	}
	return !f->with_any || keep[f->any[0]] || keep[f->any[1]] ? 7 : 0;
}

static struct minimise search_of(struct failure *f, unsigned n)
{
	return (struct minimise){.n = n, .times = 1, .run = run, .arg = f};
}

static void test_exact(void **state)
{
	struct prng rng = prng_start("test_minimise");

	(void)state;

	for (unsigned round = 0; round < 300; round++) {
		struct failure f = {.broken_at = 0};
		unsigned n = 1 + (unsigned)prng_below(&rng, PARTS);
		unsigned k = 1 + (unsigned)prng_below(&rng, 5);
		struct minimise m = search_of(&f, n);

		for (unsigned i = 0; i < k; i++)
			f.needs[prng_below(&rng, n)] = true;
		assert_int_equal(minimise(&m), MINIMISE_FOUND);
		assert_int_equal(m.runs, f.trials);
		assert_int_equal(m.status, 7);
		assert_memory_equal(m.keep, f.needs, n * sizeof(m.keep[0]));
		/* what the paper proves */
		assert_true(f.trials <= n * n + 3 * n + 2);
	}
}

static void test_one_of_two(void **state)
{
	struct failure f = {.with_any = true, .any = {3, 90}};
	struct minimise m = search_of(&f, 100);

	(void)state;
	f.needs[50] = true;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_int_equal(m.left, 2);
	assert_true(m.keep[50]);
	assert_true(m.keep[3] != m.keep[90]);
}

static void test_all_needed(void **state)
{
	struct failure f = {.broken_at = 0};
	struct minimise m = search_of(&f, 40);

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		f.needs[i] = true;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_memory_equal(m.keep, f.needs, 40 * sizeof(m.keep[0]));
}

static void test_one(void **state)
{
	struct failure f = {.needs = {true}};
	struct minimise m = search_of(&f, 1);

	(void)state;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_int_equal(m.runs, 2);
	assert_true(m.keep[0]);
}

static void test_trial_that_cannot_be_run(void **state)
{
	struct failure f = {.needs = {true, false, true}, .broken_at = 3};
	struct minimise m = search_of(&f, 8);

	(void)state;
	assert_int_equal(minimise(&m), MINIMISE_CANNOT);
	assert_int_equal(f.trials, 3);
}

static void test_that_passes(void **state)
{
	struct failure f = {.needs = {true}, .passes = 3};
	struct minimise m = search_of(&f, 2);

	(void)state;
	assert_int_equal(minimise(&m), MINIMISE_PASSES);
	f.passes = 3;
	m = search_of(&f, 2);
	m.times = 4;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_true(m.keep[0] && !m.keep[1]);
}

/* It fails anyhow; or, without the part, in another way, which counts where any failure does. */
static void test_without_parts(void **state)
{
	struct failure f = {.broken_at = 0};
	struct minimise m = search_of(&f, 4);

	(void)state;
	assert_int_equal(minimise(&m), MINIMISE_WITHOUT);
	f = (struct failure){.needs = {true}, .other = 9};
	m = search_of(&f, 4);
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	m = search_of(&f, 4);
	m.known = true;
	assert_int_equal(minimise(&m), MINIMISE_WITHOUT);
}

/* Tries of a set are counted to the end only where that is asked for. */
static void test_counts(void **state)
{
	struct failure f = {.needs = {true}};
	struct minimise m = search_of(&f, 1);

	(void)state;
	m.times = 5;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_int_equal(m.runs, 1 + 5);
	assert_int_equal(m.failed, 1);
	m = search_of(&f, 1);
	m.times = 5;
	m.count = true;
	assert_int_equal(minimise(&m), MINIMISE_FOUND);
	assert_int_equal(m.runs, 5 + 5);
	assert_int_equal(m.failed, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_all_needed),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_trial_that_cannot_be_run),
		cmocka_unit_test(test_that_passes),
		cmocka_unit_test(test_without_parts),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
