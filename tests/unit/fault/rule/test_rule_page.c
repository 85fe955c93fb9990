/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-fault(7) explains each word that a rule can have, and each rule that it shows is one.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/fault/rule/rule_names.h"
#include "emu/fault/rule/rule_opcode.h"
#include "emu/fault/rule/rule_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page;

/* Without the backslash of "\-". */
static int read_page(void **state)
{
	const char *dir = getenv("UHCA_SRCDIR");
	char path[4096];
	size_t n = 0;
	FILE *f;
	int c;

	(void)state;
	snprintf(path, sizeof(path), "%s/emu/man/uhca-fault.7", dir ? dir : "..");
	f = fopen(path, "r");
	page = malloc(1 << 20);
	if (!f || !page)
		return -1;
	while ((c = getc(f)) != EOF && n + 2 < 1 << 20) {
		if (c == '\\' && (c = getc(f)) != '-')
			page[n++] = '\\';
		page[n++] = (char)c;
	}
	page[n] = '\0';
	return fclose(f);
}

static int free_page(void **state)
{
	(void)state;
	free(page);
	return 0;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is there a paragraph ".B NAME" or ".BI NAME..."? */
static bool has_entry(const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = page; (at = strstr(at, "\n.B")) != NULL; at++) {
		const char *word = at + 3 + (at[3] == 'I');

		if (*word != ' ' || strncmp(word + 1, name, n) != 0)
			continue;
		if (word[1 + n] == '\n' || strchr("= [:", word[1 + n]))
			return true;
	}
	return false;
}

static void must_have_entry(const char *name)
{
	if (!has_entry(name))
		fail_msg("the page has no paragraph of '%s'", name);
}

static void must_mention(const char *name)
{
	for (const char *at = page; (at = strstr(at, name)) != NULL; at++)
		if (!in_word(at[-1]) && !in_word(at[strlen(name)]))
			return;
	fail_msg("the page does not mention '%s'", name);
}

static void must_mention_all(const struct fault_constants *c)
{
	for (const struct fault_constant *k = c->table; k->name; k++)
		must_mention(k->name);
}

static void test_actions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FAULT_ACTIONS; i++)
		must_have_entry(fault_action_words[i].name);
	must_have_entry("corrupt=icrc");
	must_have_entry("corrupt=bit");
	must_have_entry("corrupt=payload");
	must_have_entry("forge=ack");
	must_have_entry("forge=nak");
	must_have_entry("forge=rnr");
	must_have_entry("cqe.set=status");
	must_have_entry("cqe.set=vendor");
	must_have_entry("cqe.set=length");
	must_have_entry("cqe.set=imm");
	assert_false(has_entry("nothing"));
}

static void test_words(void **state)
{
	(void)state;
	for (unsigned i = 0; i < fault_n_words; i++) {
		must_have_entry(fault_words[i].name);
		if (fault_words[i].alias)
			must_mention(fault_words[i].alias);
	}
	for (unsigned i = 0; i < FAULT_FIELDS; i++)
		must_have_entry(fault_field_words[i].name);
}

static void test_names_of_values(void **state)
{
	const char *name;

	(void)state;
	for (unsigned i = 0; (name = fault_class_at(NULL, i)) != NULL; i++)
		must_mention(name);
	must_mention_all(&fault_calls);
	must_mention_all(&fault_cm_messages);
	must_mention_all(&fault_cm_reasons);
	must_mention_all(&fault_naks);
	must_mention_all(&fault_layers);
	must_mention_all(&fault_wc_opcodes);
}

/* Lines of examples, without their comments. */
static unsigned check_examples(const char *at, const char *end)
{
	unsigned n = 0;

	while (at < end) {
		const size_t length = strcspn(at, "\n");
		struct fault_rule r;
		struct fault_error e;

		if (*at != '\\' && fault_rule_parse(at, &r, &e))
			fail_msg("%.*s: column %u: %s", (int)length, at, e.column, e.text);
		n += *at != '\\';
		at += length + 1;
	}
	return n;
}

static void test_examples(void **state)
{
	unsigned n = 0;

	(void)state;
	for (const char *at = page; (at = strstr(at, "\n.nf\n")) != NULL;) {
		const char *end = strstr(at, "\n.fi");

		assert_non_null(end);
		n += check_examples(at + 5, end + 1);
		at = end;
	}
	assert_true(n > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_names_of_values),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, read_page, free_page);
}
