/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a scenario line into words, and reads times, numbers and names from them. */
#include "scenario_text.h"

#include "emu/model/read/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned scenario_column(const struct scenario_cursor *c, const char *at)
{
	return (unsigned)(at - c->line) + 1;
}

int scenario_refuse(struct scenario_cursor *c, const char *at, const char *format, ...)
{
	va_list ap;

	c->error->line = c->number;
	c->error->column = scenario_column(c, at);
	va_start(ap, format);
	vsnprintf(c->error->text, sizeof(c->error->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

int scenario_no_such(struct scenario_cursor *c, const char *word, const char *what,
		     words_names names, const void *table)
{
	char text[sizeof(c->error->text)];

	return scenario_refuse(c, word, "%s",
			       words_refuse(text, sizeof(text), what, word, names, table));
}

/* ---- words ---- */

void scenario_skip_space(struct scenario_cursor *c)
{
	c->at += strspn(c->at, " \t");
}

char *scenario_word(struct scenario_cursor *c)
{
	char *word;

	scenario_skip_space(c);
	if (!*c->at)
		return NULL;
	word = c->at;
	c->at += strcspn(c->at, " \t");
	if (*c->at)
		*c->at++ = '\0';
	return word;
}

char *scenario_rest(struct scenario_cursor *c)
{
	char *text;

	scenario_skip_space(c);
	text = c->at;
	c->at += strlen(c->at);
	return *text ? text : NULL;
}

int scenario_at_end(struct scenario_cursor *c)
{
	scenario_skip_space(c);
	return *c->at ? scenario_refuse(c, c->at, "unknown word '%s'", c->at) : 0;
}

int scenario_need(struct scenario_cursor *c, char **word, const char *what)
{
	*word = scenario_word(c);
	return *word ? 0 : scenario_refuse(c, c->at, "%s is missing", what);
}

bool scenario_time(const char *text, uint64_t *out)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (!isdigit((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		*out = n * units[i].ns;
		return n > 0 && n <= UINT64_MAX / units[i].ns;
	}
	return false;
}

int scenario_take_time(struct scenario_cursor *c, uint64_t *out)
{
	char *word;

	if (scenario_need(c, &word, "a time such as 10ms") < 0)
		return -EINVAL;
	return scenario_time(word, out)
		       ? 0
		       : scenario_refuse(c, word, "'%s' is not a time such as 10ms", word);
}

int scenario_take_number(struct scenario_cursor *c, uint64_t *out)
{
	char *word;

	if (scenario_need(c, &word, "a number") < 0)
		return -EINVAL;
	return model_words_number(word, out)
		       ? 0
		       : scenario_refuse(c, word, "'%s' is not a number", word);
}

bool scenario_is_name(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr("-_.", word[i]))
			return false;
	return len > 0 && len < SCENARIO_NAME_MAX;
}

int scenario_take_name(struct scenario_cursor *c, const char *what)
{
	char *word;

	if (scenario_need(c, &word, what) < 0)
		return -EINVAL;
	if (!scenario_is_name(word))
		return scenario_refuse(c, word, "'%s' cannot be %s", word, what);
	memcpy(c->step.name, word, strlen(word) + 1);
	c->step.column = scenario_column(c, word);
	return 0;
}

/* ---- names of statements above ---- */

bool scenario_has_run(const struct scenario *s, const char *name)
{
	for (unsigned i = 0; i < s->n_steps; i++)
		if (s->step[i].verb == SCENARIO_RUN && strcmp(s->step[i].name, name) == 0)
			return true;
	return false;
}

static const char *run_at(const void *table, unsigned i)
{
	const struct scenario *s = table;

	for (unsigned k = 0; k < s->n_steps; k++)
		if (s->step[k].verb == SCENARIO_RUN && i-- == 0)
			return s->step[k].name;
	return NULL;
}

int scenario_take_run(struct scenario_cursor *c)
{
	if (scenario_take_name(c, "the name of a run") < 0)
		return -EINVAL;
	if (strcmp(c->step.name, SCENARIO_OF_COMMAND) == 0) {
		c->s->wants_command = true;
		return 0;
	}
	if (scenario_has_run(c->s, c->step.name))
		return 0;
	return scenario_no_such(c, c->line + c->step.column - 1, "earlier run", run_at, c->s);
}

/* Names of rules, one behind the other, for one message. */
static const char *rule_at(const void *table, unsigned i)
{
	static char name[SCENARIO_STEPS_MAX][SCENARIO_NAME_MAX];
	const struct scenario *s = table;
	unsigned n = 0;

	for (unsigned k = 0; k < s->n_steps; k++) {
		const char *text = s->step[k].text;
		size_t len = s->step[k].verb == SCENARIO_FAULT ? strcspn(text, ": \t") : 0;

		if (len == 0 || text[len] != ':' || len >= SCENARIO_NAME_MAX || n++ < i)
			continue;
		snprintf(name[i], sizeof(name[i]), "%.*s", (int)len, text);
		return name[i];
	}
	return NULL;
}

/* The rules of a "fault" that is above: "NAME: ..." */
static bool has_rule(const struct scenario *s, const char *name)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < s->n_steps; i++) {
		const struct scenario_step *step = &s->step[i];

		if (step->verb == SCENARIO_FAULT && strncmp(step->text, name, len) == 0 &&
		    step->text[len] == ':')
			return true;
	}
	return false;
}

/* Numbers are the daemon's: which there are shows when they are looked for. */
int scenario_take_rule(struct scenario_cursor *c)
{
	uint64_t number;

	if (scenario_take_name(c, "the name of a rule") < 0)
		return -EINVAL;
	if (model_words_number(c->step.name, &number) || has_rule(c->s, c->step.name))
		return 0;
	return scenario_no_such(c, c->line + c->step.column - 1, "earlier rule", rule_at, c->s);
}

/* ---- relations ---- */

static const char *const relation_name[] = {
	[SCENARIO_EQUAL] = "==",   [SCENARIO_UNEQUAL] = "!=", [SCENARIO_LESS] = "<",
	[SCENARIO_AT_MOST] = "<=", [SCENARIO_MORE] = ">",     [SCENARIO_AT_LEAST] = ">=",
};
#define RELATIONS (sizeof(relation_name) / sizeof(relation_name[0]))

bool scenario_holds(uint64_t value, enum scenario_relation relation, uint64_t number)
{
	switch (relation) {
	case SCENARIO_EQUAL:
		return value == number;
	case SCENARIO_UNEQUAL:
		return value != number;
	case SCENARIO_LESS:
		return value < number;
	case SCENARIO_AT_MOST:
		return value <= number;
	case SCENARIO_MORE:
		return value > number;
	case SCENARIO_AT_LEAST:
		return value >= number;
	}
	return false;
}

static enum scenario_relation accept_relation(struct scenario_cursor *c)
{
	size_t len;

	scenario_skip_space(c);
	len = strcspn(c->at, " \t");
	for (size_t i = 0; i < RELATIONS; i++) {
		if (len != strlen(relation_name[i]) || strncmp(c->at, relation_name[i], len) != 0)
			continue;
		scenario_word(c);
		return (enum scenario_relation)i;
	}
	return SCENARIO_EQUAL;
}

static bool is_never_so(enum scenario_relation relation, uint64_t number, uint64_t most)
{
	return (relation == SCENARIO_LESS && number == 0) ||
	       (relation == SCENARIO_MORE && number >= most);
}

static bool is_always_so(enum scenario_relation relation, uint64_t number, uint64_t most)
{
	return (relation == SCENARIO_AT_LEAST && number == 0) ||
	       (relation == SCENARIO_AT_MOST && number >= most);
}

int scenario_take_relation(struct scenario_cursor *c, uint64_t most, bool may_be_any)
{
	const char *at;

	scenario_skip_space(c);
	at = c->at;
	c->step.relation = accept_relation(c);
	if (scenario_take_number(c, &c->step.number) < 0)
		return -EINVAL;
	if (c->step.number > most)
		return scenario_refuse(c, at, "it is never more than %llu",
				       (unsigned long long)most);
	if (is_never_so(c->step.relation, c->step.number, most))
		return scenario_refuse(c, at, "it can never be true");
	if (!may_be_any && is_always_so(c->step.relation, c->step.number, most))
		return scenario_refuse(c, at, "it is always true");
	return 0;
}

bool scenario_accept(struct scenario_cursor *c, const char *word)
{
	size_t len = strlen(word);

	scenario_skip_space(c);
	if (strncmp(c->at, word, len) != 0 || (c->at[len] && !strchr(" \t", c->at[len])))
		return false;
	scenario_word(c);
	return true;
}
