/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "uhcactl fault help" has every word of the grammar, and says something of each.
 */
#include "emu/ctl/live/fault_help.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/fault/rule/rule_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;

static const char *help_of(const char *word)
{
	FILE *out;
	bool known;

	free(text);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	known = ctl_fault_help_word(out, word);
	fclose(out);
	return known ? text : NULL;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void expect_word(const char *word)
{
	const char *said = help_of(word);

	if (!said)
		fail_msg("nothing is said of %s", word);
	/* the tag, and at least a sentence of letters below it */
	assert_true(strncmp(said, word, strlen(word)) == 0);
	if (!strstr(said, "\n    ") || strlen(strstr(said, "\n    ")) < 10)
		fail_msg("too little is said of %s: %s", word, said);
	assert_null(strstr(said, "\\"));
	assert_null(strstr(said, "\n."));
}

static void test_all_words(void **state)
{
	(void)state;
	for (unsigned a = 0; a < FAULT_ACTIONS; a++)
		expect_word(fault_action_words[a].name);
	for (unsigned i = 0; i < fault_n_words; i++)
		expect_word(fault_words[i].name);
}

static void test_one(void **state)
{
	(void)state;
	assert_string_equal(help_of("DROP"),
			    "drop\n    The packet is lost. The requester sends again after its "
			    "timeout or a NAK.\n    When its retries are used up, its request "
			    "completes with RETRY_EXC_ERR.\n");
	/* all forms of it */
	assert_non_null(strstr(help_of("corrupt"), "corrupt=icrc\n"));
	assert_non_null(strstr(text, "corrupt=payload[:N]\n"));
	assert_null(help_of("dro"));
	assert_null(help_of(""));
	assert_null(help_of("DESCRIPTION"));
}

static void test_list(void **state)
{
	FILE *out;

	(void)state;
	free(text);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	ctl_fault_help(out);
	fclose(out);
	assert_non_null(strstr(text, "ACTIONS\n  drop                The packet is lost.\n"));
	assert_non_null(strstr(text, "LIMITS\n"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all_words, teardown),
		cmocka_unit_test_teardown(test_one, teardown),
		cmocka_unit_test_teardown(test_list, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
