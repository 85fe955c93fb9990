/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of a word that means nothing: the nearest, and all that there are. */
#include "emu/words/words.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static const char *const commands[] = {"show",  "counters", "capture", "explain",
				       "fault", "replay",   "limit",   NULL};

static void nearest(const char *word, const char *wanted)
{
	const char *found = words_nearest(word, strlen(word), words_at, commands);

	if (!wanted)
		assert_null(found);
	else if (!found || strcmp(found, wanted) != 0)
		fail_msg("%s: %s, not %s", word, found ? found : "none", wanted);
}

static void test_nearest(void **state)
{
	(void)state;
	nearest("shwo", "show");
	nearest("SHOW", "show");
	nearest("sho", "show");
	nearest("expl", "explain");
	nearest("count", "counters");
	nearest("cpature", "capture");
	nearest("faults", "fault");
	nearest("lmit", "limit");
	nearest("capt", "capture");
	nearest("xyz", NULL);
	nearest("", NULL);
	nearest("co", NULL);
	nearest("x", NULL);
	nearest("a-word-that-is-longer-than-any-of-those-that-there-are", NULL);
}

static void test_hint(void **state)
{
	char buf[WORDS_HINT_MAX], small[8];

	(void)state;
	assert_string_equal(words_hint(NULL, buf, sizeof(buf)), "");
	assert_string_equal(words_hint("show", buf, sizeof(buf)), ": did you mean 'show'?");
	assert_string_equal(words_hint("show", small, sizeof(small)), ": did y");
}

static void refused(const char *word, const char *const *names, const char *wanted)
{
	char buf[256];

	assert_string_equal(words_refuse(buf, sizeof(buf), "thing", word, words_at, names), wanted);
}

static void test_refuse(void **state)
{
	static const char *const none[] = {NULL}, *const one[] = {"qp", NULL};
	static const char *const two[] = {"qp", "cq", NULL};
	char small[33];

	(void)state;
	refused("x", none, "unknown thing 'x'");
	refused("abc", one, "unknown thing 'abc'; known: qp");
	refused("qps", one, "unknown thing 'qps': did you mean 'qp'? Known: qp");
	refused("abc", two, "unknown thing 'abc'; known: qp, cq");
	refused("abc", commands,
		"unknown thing 'abc'; known: show, counters, capture, explain, fault, "
		"replay, limit");
	words_refuse(small, sizeof(small), "thing", "abc", words_at, commands);
	assert_string_equal(small, "unknown thing 'abc'; known: show");
}

static void test_has(void **state)
{
	(void)state;
	assert_true(words_has("show", words_at, commands));
	assert_false(words_has("sho", words_at, commands));
	assert_false(words_has("", words_at, commands));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_has),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
