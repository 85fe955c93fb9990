/* SPDX-License-Identifier: BSD-2-Clause */
/* Relaxations, and what a seed makes of them. */
#include "emu/fault/chaos/chaos.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 64u

static struct chaos parsed(const char *text)
{
	struct chaos c;
	char error[256] = "";

	if (chaos_parse(text, &c, error, sizeof(error)) != 0)
		fail_msg("%s: %s", text, error);
	return c;
}

static unsigned index_of(const char *name)
{
	for (unsigned i = 0; i < n_relaxations; i++)
		if (strcmp(relaxations[i].name, name) == 0)
			return i;
	fail_msg("no relaxation %s", name);
	return 0;
}

static chaos_set bit(const char *name)
{
	return UINT32_C(1) << index_of(name);
}

/* Whatever numbers a seed chooses, the rule is one. */
static void test_rules(void **state)
{
	(void)state;
	assert_true(n_relaxations <= RELAXATIONS_MAX);
	for (unsigned i = 0; i < n_relaxations; i++) {
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			char text[FAULT_TEXT_MAX];
			struct fault_error error;
			struct fault_rule rule;

			if (!chaos_rule(seed, i, text)) {
				assert_null(relaxations[i].rule);
				assert_memory_equal(text, "--", 2);
				assert_null(strpbrk(text, "{}"));
				continue;
			}
			if (fault_rule_parse(text, &rule, &error) != 0)
				fail_msg("%s: column %u: %s", text, error.column, error.text);
			assert_string_equal(rule.name, relaxations[i].name);
			assert_null(strpbrk(text, "{}"));
		}
	}
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_relaxations; i++) {
		assert_true(relaxations[i].what[0] && relaxations[i].clause[0]);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(relaxations[i].name, relaxations[k].name);
	}
}

/* The same seed, the same plan; another, another. */
static void test_seed(void **state)
{
	char one[FAULT_TEXT_MAX], two[FAULT_TEXT_MAX], other[FAULT_TEXT_MAX];
	const struct chaos a = parsed("7"), b = parsed("7"), c = parsed("8");
	unsigned late = index_of("late-completions");

	(void)state;
	assert_int_equal(chaos_taken(&a), chaos_taken(&b));
	assert_int_not_equal(chaos_taken(&a), chaos_taken(&c));
	assert_true(chaos_rule(7, late, one) && chaos_rule(7, late, two) &&
		    chaos_rule(8, late, other));
	assert_string_equal(one, two);
	assert_string_not_equal(one, other);
}

/* Each that need not be asked for is in some seed and not in another; every seed takes some. */
static void test_all_seen(void **state)
{
	chaos_set seen = 0, always = UINT32_MAX;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct chaos c = {.has_seed = true, .seed = seed};

		assert_int_not_equal(chaos_taken(&c), 0);
		seen |= chaos_taken(&c);
		always &= chaos_taken(&c);
	}
	assert_int_equal(always, 0);
	for (unsigned i = 0; i < n_relaxations; i++)
		assert_int_equal(seen >> i & 1, !relaxations[i].asked_only);
}

static void test_words(void **state)
{
	struct chaos c = parsed("0x10,two-keys,ud-lost");

	(void)state;
	assert_true(c.has_seed);
	assert_int_equal(c.seed, 16);
	assert_int_equal(chaos_taken(&c), bit("two-keys") | bit("ud-lost"));
	c = parsed("-ud-lost,+full-queues");
	assert_false(c.has_seed);
	for (c.seed = 0; c.seed < SEEDS; c.seed++) {
		assert_int_equal(chaos_taken(&c) & bit("ud-lost"), 0);
		assert_int_not_equal(chaos_taken(&c) & bit("full-queues"), 0);
	}
	c = parsed("3,none");
	assert_int_equal(chaos_taken(&c), 0);
	c = parsed("");
	assert_false(c.has_seed || c.only);
}

static void test_print(void **state)
{
	char text[256];
	struct chaos c;

	(void)state;
	chaos_print(5, bit("two-keys") | bit("uc-lost"), text, sizeof(text));
	assert_string_equal(text, "5,two-keys,uc-lost");
	c = parsed(text);
	assert_int_equal(chaos_taken(&c), bit("two-keys") | bit("uc-lost"));
	chaos_print(5, 0, text, sizeof(text));
	assert_string_equal(text, "5,none");
	assert_int_equal(chaos_print(12345, bit("uc-lost"), text, 4), 13);
}

/* docs/explanation/chaos.md has a line of each. */
static void test_page(void **state)
{
	static char page[1 << 16];
	const char *dir = getenv("UHCA_SRCDIR");
	char path[4096], row[1024];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/docs/explanation/chaos.md", dir ? dir : "..");
	f = fopen(path, "r");
	assert_non_null(f);
	page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
	fclose(f);
	for (unsigned i = 0; i < n_relaxations; i++) {
		const struct relaxation *l = &relaxations[i];

		snprintf(row, sizeof(row), "| `%s`%s | %s | `%s%s`", l->name,
			 l->asked_only ? " (named only)" : "", l->what, l->rule ? "" : "--",
			 l->rule ? l->rule : l->option);
		if (!strstr(page, row) || !strstr(strstr(page, row), l->clause))
			fail_msg("docs/explanation/chaos.md has no line '%s'", row);
	}
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{"two-kees", "unknown relaxation 'two-kees': did you mean 'two-keys'?"},
		{"3,-ud-lots", "unknown relaxation 'ud-lots': did you mean 'ud-lost'?"},
		{"3x", "'3x' is not a seed (a 64-bit number)"},
		{"99999999999999999999", "'99999999999999999999' is not a seed (a 64-bit number)"},
		{"3,", "unknown relaxation '': uhca-run --chaos=help lists them"},
		{"3,4", "unknown relaxation '4': uhca-run --chaos=help lists them"},
		{"+", "unknown relaxation '': uhca-run --chaos=help lists them"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char error[256] = "";
		struct chaos c;

		assert_int_equal(chaos_parse(wrong[i].text, &c, error, sizeof(error)), -EINVAL);
		assert_string_equal(error, wrong[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),    cmocka_unit_test(test_names),
		cmocka_unit_test(test_seed),     cmocka_unit_test(test_all_seen),
		cmocka_unit_test(test_words),    cmocka_unit_test(test_print),
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests_name("chaos", tests, NULL, NULL);
}
