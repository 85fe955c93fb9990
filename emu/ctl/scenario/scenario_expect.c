/* SPDX-License-Identifier: BSD-2-Clause */
/* Conditions of a scenario file; see scenario_text.h. */
#include "scenario_text.h"

#include "emu/abi/packet_metadata.h"
#include "emu/model/capture/capture_model.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#define EXIT_MOST 255 /* a signal N is 128 + N */

/* ---- what can be waited for and expected ---- */

static int condition_time(struct scenario_cursor *c)
{
	return scenario_take_time(c, &c->step.number);
}

/* listen [cm] [PORT] */
static int condition_listen(struct scenario_cursor *c)
{
	if (scenario_accept(c, "cm"))
		c->step.what = SCENARIO_CM_LISTEN;
	scenario_skip_space(c);
	if (!isdigit((unsigned char)*c->at))
		return 0;
	if (scenario_take_number(c, &c->step.number) < 0)
		return -EINVAL;
	return c->step.number > 0 && c->step.number < 65536
		       ? 0
		       : scenario_refuse(c, c->at, "a port is a number from 1 to 65535");
}

/* rule NAME [hits OP N]: once at least when nothing is said. */
static int condition_rule(struct scenario_cursor *c)
{
	if (scenario_take_rule(c) < 0)
		return -EINVAL;
	c->step.relation = SCENARIO_AT_LEAST;
	c->step.number = 1;
	return scenario_accept(c, "hits") ? scenario_take_relation(c, UINT64_MAX, false) : 0;
}

/* exit NAME [STATUS | OP STATUS]: with 0 when nothing is said; any when it is waited for. */
static int condition_exit(struct scenario_cursor *c)
{
	if (scenario_take_run(c) < 0)
		return -EINVAL;
	c->step.relation = c->step.verb == SCENARIO_WAIT ? SCENARIO_AT_LEAST : SCENARIO_EQUAL;
	scenario_skip_space(c);
	if (!*c->at || (strncmp(c->at, "within", 6) == 0 && strchr(" \t", c->at[6])))
		return 0;
	return scenario_take_relation(c, EXIT_MOST, true);
}

/* Cuts a trailing "within TIME" off the rest of the line. */
static int cut_within(struct scenario_cursor *c)
{
	char *found = NULL, *word;

	for (char *p = strstr(c->at, " within "); p; p = strstr(p + 1, " within "))
		found = p;
	if (!found)
		return 0;
	word = found + 8 + strspn(found + 8, " \t");
	/* "within reach" is part of a text, and so is a number with more behind it */
	if (!isdigit((unsigned char)*word) || strpbrk(word, " \t"))
		return 0;
	if (!scenario_time(word, &c->step.within))
		return scenario_refuse(c, word, "'%s' is not a time such as 10ms", word);
	*found = '\0';
	return 0;
}

static int check_expression(struct scenario_cursor *c)
{
	char why[128];
	regex_t re;
	int error = regcomp(&re, c->step.text, REG_EXTENDED | REG_NOSUB);

	if (error == 0) {
		regfree(&re);
		return 0;
	}
	regerror(error, &re, why, sizeof(why));
	return scenario_refuse(c, c->step.text, "not a regular expression: %s", why);
}

static int condition_output(struct scenario_cursor *c)
{
	const char *name;

	if (scenario_take_run(c) < 0 || cut_within(c) < 0)
		return -EINVAL;
	name = c->line + c->step.column - 1;
	if (strcmp(c->step.name, SCENARIO_OF_COMMAND) == 0)
		return scenario_refuse(c, name,
				       "the command's output is not captured: give the run a name");
	c->step.text = scenario_rest(c);
	return c->step.text ? check_expression(c)
			    : scenario_refuse(c, c->at, "the expression is missing");
}

static int condition_counter(struct scenario_cursor *c)
{
	return scenario_take_name(c, "the name of a counter") < 0
		       ? -EINVAL
		       : scenario_take_relation(c, UINT64_MAX, false);
}

static int condition_leak(struct scenario_cursor *c)
{
	return c->step.no ? 0 : scenario_refuse(c, c->at, "expected: expect no leak");
}

/* NAME=VALUE or NAME!=VALUE of len bytes: can a record of this kind say so? */
static int check_word(struct scenario_cursor *c, const char *word, size_t len)
{
	char copy[UHCA_MODEL_MAX], why[sizeof(c->error->text)];
	char *value;
	int error;

	if (len >= sizeof(copy))
		return scenario_refuse(c, word, "the word is too long");
	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	value = strpbrk(copy, "=!<>");
	if (!value)
		return scenario_refuse(c, word, "'%s' is not NAME=VALUE", copy);
	if (value[0] != '=' && !(value[0] == '!' && value[1] == '='))
		return scenario_refuse(c, word, "'%s': words are compared with = and !=", copy);
	len = value[0] == '!' ? 2 : 1;
	*value = '\0';
	value += len;
	error = model_vocabulary_check(c->step.name, copy, value, why, sizeof(why));
	if (error == 0)
		return 0;
	return scenario_refuse(c, error == -ENOENT ? word : word + (value - copy), "%s", why);
}

/* Of two words of one name a record has at most one. */
static bool is_there_twice(const char *text, const char *word)
{
	size_t len = strcspn(word, "!=");

	for (const char *p = text; p < word; p += strcspn(p, " \t"), p += strspn(p, " \t"))
		if (strcspn(p, "!=") == len && strncmp(p, word, len) == 0)
			return true;
	return false;
}

/* [count OP N] WORD=VALUE...: once at least when nothing is said. */
static int condition_record(struct scenario_cursor *c)
{
	c->step.relation = SCENARIO_AT_LEAST;
	c->step.number = 1;
	if (scenario_accept(c, "count") && scenario_take_relation(c, UINT64_MAX, false) < 0)
		return -EINVAL;
	if (cut_within(c) < 0)
		return -EINVAL;
	c->step.text = scenario_rest(c);
	if (!c->step.text)
		c->step.text = "";
	else
		c->step.column = scenario_column(c, c->step.text);
	for (const char *p = c->step.text; *p; p += strspn(p, " \t")) {
		size_t len = strcspn(p, " \t");

		if (check_word(c, p, len) < 0)
			return -EINVAL;
		if (is_there_twice(c->step.text, p))
			return scenario_refuse(c, p, "the word is given twice");
		p += len;
	}
	return 0;
}

static const struct {
	const char *word;
	enum scenario_what what;
	int (*take)(struct scenario_cursor *c);
	bool waits, expects;
} conditions[] = {
	{"time", SCENARIO_TIME, condition_time, true, false},
	{"listen", SCENARIO_LISTEN, condition_listen, true, false},
	{"rule", SCENARIO_RULE, condition_rule, true, true},
	{"exit", SCENARIO_EXIT, condition_exit, true, true},
	{"output", SCENARIO_OUTPUT, condition_output, true, true},
	{"counter", SCENARIO_COUNTER, condition_counter, true, true},
	{"leak", SCENARIO_NO_LEAK, condition_leak, false, true},
	{"completion", SCENARIO_RECORD, condition_record, true, true},
	{"event", SCENARIO_RECORD, condition_record, true, true},
	{"state", SCENARIO_RECORD, condition_record, true, true},
	{"retry", SCENARIO_RECORD, condition_record, true, true},
	{"nak", SCENARIO_RECORD, condition_record, true, true},
	{"hit", SCENARIO_RECORD, condition_record, true, true},
	{"call", SCENARIO_RECORD, condition_record, true, true},
};
#define CONDITIONS (sizeof(conditions) / sizeof(conditions[0]))

/* Those that can be waited for, or those that can be expected. */
static const char *condition_at(const void *table, unsigned i)
{
	const bool wait = *(const bool *)table;

	for (size_t k = 0; k < CONDITIONS; k++)
		if ((wait ? conditions[k].waits : conditions[k].expects) && i-- == 0)
			return conditions[k].word;
	return NULL;
}

static int take_within(struct scenario_cursor *c)
{
	if (!scenario_accept(c, "within"))
		return 0;
	return scenario_take_time(c, &c->step.within);
}

/* word: the first of it; a time stands for "time TIME" in wait and after. */
int scenario_take_condition(struct scenario_cursor *c, char *word)
{
	bool wait = c->step.verb == SCENARIO_WAIT;

	if (wait && scenario_time(word, &c->step.number)) {
		c->step.what = SCENARIO_TIME;
		return 0;
	}
	for (size_t i = 0; i < CONDITIONS; i++) {
		if (strcmp(conditions[i].word, word) != 0)
			continue;
		if (wait ? !conditions[i].waits : !conditions[i].expects)
			break;
		c->step.what = conditions[i].what;
		if (c->step.what == SCENARIO_RECORD)
			memcpy(c->step.name, word, strlen(word) + 1);
		return conditions[i].take(c) < 0 ? -EINVAL : take_within(c);
	}
	return scenario_no_such(c, word, wait ? "condition to wait for" : "condition to expect",
				condition_at, &wait);
}
