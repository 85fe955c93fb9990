/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See scenario.h. A line is cut into words in place; what a command or a rule is, the shell and the
 * daemon know, so these stay whole.
 */
#include "scenario.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

/* The line at hand. */
struct cursor {
	struct scenario *s;
	struct scenario_error *error;
	char *line; /* its first byte */
	char *at;   /* what is not read yet */
	unsigned number;
	struct scenario_step step;
};

static int refuse(struct cursor *c, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct cursor *c, const char *at, const char *format, ...)
{
	va_list ap;

	c->error->line = c->number;
	c->error->column = (unsigned)(at - c->line) + 1;
	va_start(ap, format);
	vsnprintf(c->error->text, sizeof(c->error->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- words ---- */

static void skip_space(struct cursor *c)
{
	c->at += strspn(c->at, " \t");
}

/* The next word, ended by a NUL in place; NULL at the end of the line. */
static char *next_word(struct cursor *c)
{
	char *word;

	skip_space(c);
	if (!*c->at)
		return NULL;
	word = c->at;
	c->at += strcspn(c->at, " \t");
	if (*c->at)
		*c->at++ = '\0';
	return word;
}

/* What is left of the line; NULL when nothing is. */
static char *rest(struct cursor *c)
{
	char *text;

	skip_space(c);
	text = c->at;
	c->at += strlen(c->at);
	return *text ? text : NULL;
}

static int at_end(struct cursor *c)
{
	skip_space(c);
	return *c->at ? refuse(c, c->at, "'%s' has no meaning here", c->at) : 0;
}

static int need(struct cursor *c, char **word, const char *what)
{
	*word = next_word(c);
	return *word ? 0 : refuse(c, c->at, "%s is missing", what);
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
		return n <= UINT64_MAX / units[i].ns;
	}
	return false;
}

static int take_time(struct cursor *c, uint64_t *out)
{
	char *word;

	if (need(c, &word, "a time such as 10ms") < 0)
		return -EINVAL;
	return scenario_time(word, out) ? 0 : refuse(c, word, "'%s' is no time such as 10ms", word);
}

static int take_number(struct cursor *c, uint64_t *out)
{
	char *word, *end;

	if (need(c, &word, "a number") < 0)
		return -EINVAL;
	*out = strtoull(word, &end, 0);
	if (!isdigit((unsigned char)word[0]) || *end)
		return refuse(c, word, "'%s' is no number", word);
	return 0;
}

static bool is_name(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr("-_.", word[i]))
			return false;
	return len > 0 && len < SCENARIO_NAME_MAX;
}

static int take_name(struct cursor *c, const char *what)
{
	char *word;

	if (need(c, &word, what) < 0)
		return -EINVAL;
	if (!is_name(word))
		return refuse(c, word, "'%s' cannot be %s", word, what);
	memcpy(c->step.name, word, strlen(word) + 1);
	return 0;
}

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

/* "OP N"; "N" alone is "== N". */
static int take_relation(struct cursor *c)
{
	size_t len;

	skip_space(c);
	len = strcspn(c->at, " \t");
	c->step.relation = SCENARIO_EQUAL;
	for (size_t i = 0; i < RELATIONS; i++) {
		if (len != strlen(relation_name[i]) || strncmp(c->at, relation_name[i], len) != 0)
			continue;
		c->step.relation = (enum scenario_relation)i;
		next_word(c);
		break;
	}
	return take_number(c, &c->step.number);
}

/* Is the next word this one? Then it is used up. */
static bool accept(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	skip_space(c);
	if (strncmp(c->at, word, len) != 0 || (c->at[len] && !strchr(" \t", c->at[len])))
		return false;
	next_word(c);
	return true;
}

/* ---- what can be waited for and expected ---- */

static int condition_time(struct cursor *c)
{
	return take_time(c, &c->step.number);
}

/* listen [cm] [PORT] */
static int condition_listen(struct cursor *c)
{
	if (accept(c, "cm"))
		c->step.what = SCENARIO_CM_LISTEN;
	skip_space(c);
	if (!isdigit((unsigned char)*c->at))
		return 0;
	if (take_number(c, &c->step.number) < 0)
		return -EINVAL;
	return c->step.number > 0 && c->step.number < 65536
		       ? 0
		       : refuse(c, c->at, "a port is a number from 1 to 65535");
}

/* rule NAME [hits OP N]: once at least when nothing is said. */
static int condition_rule(struct cursor *c)
{
	if (take_name(c, "the name of a rule") < 0)
		return -EINVAL;
	c->step.relation = SCENARIO_AT_LEAST;
	c->step.number = 1;
	return accept(c, "hits") ? take_relation(c) : 0;
}

/* exit NAME [STATUS | OP STATUS]: with 0 when nothing is said. */
static int condition_exit(struct cursor *c)
{
	if (take_name(c, "the name of a run") < 0)
		return -EINVAL;
	c->step.relation = c->step.verb == SCENARIO_WAIT ? SCENARIO_AT_LEAST : SCENARIO_EQUAL;
	skip_space(c);
	return *c->at && strncmp(c->at, "within", 6) != 0 ? take_relation(c) : 0;
}

/* Cuts a trailing "within TIME" off the rest of the line. */
static int cut_within(struct cursor *c)
{
	char *found = NULL;

	for (char *p = strstr(c->at, " within "); p; p = strstr(p + 1, " within "))
		found = p;
	if (!found)
		return 0;
	if (!scenario_time(found + 8, &c->step.within))
		return 0; /* part of a text */
	*found = '\0';
	return 0;
}

static int condition_output(struct cursor *c)
{
	if (take_name(c, "the name of a run") < 0)
		return -EINVAL;
	cut_within(c);
	c->step.text = rest(c);
	return c->step.text ? 0 : refuse(c, c->at, "the expression is missing");
}

static int condition_counter(struct cursor *c)
{
	return take_name(c, "the name of a counter") < 0 ? -EINVAL : take_relation(c);
}

static int condition_leak(struct cursor *c)
{
	return c->step.no ? 0 : refuse(c, c->at, "it is: expect no leak");
}

/* [count OP N] WORD=VALUE...: once at least when nothing is said. */
static int condition_record(struct cursor *c)
{
	char *end;

	c->step.relation = SCENARIO_AT_LEAST;
	c->step.number = 1;
	if (accept(c, "count") && take_relation(c) < 0)
		return -EINVAL;
	cut_within(c);
	c->step.text = rest(c);
	if (!c->step.text)
		c->step.text = "";
	for (const char *p = c->step.text; *p; p = end) {
		size_t len = strcspn(p, " \t");

		if (!memchr(p, '=', len))
			return refuse(c, p, "'%.*s' is not NAME=VALUE", (int)len, p);
		end = (char *)p + len;
		end += strspn(end, " \t");
	}
	return 0;
}

static const struct {
	const char *word;
	enum scenario_what what;
	int (*take)(struct cursor *c);
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

static int take_within(struct cursor *c)
{
	if (!accept(c, "within"))
		return 0;
	return take_time(c, &c->step.within);
}

/* word: the first of it; a time stands for "time TIME" in wait and after. */
static int take_condition(struct cursor *c, char *word)
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
	return refuse(c, word, "'%s' is nothing that can be %s", word,
		      wait ? "waited for" : "expected");
}

/* ---- statements ---- */

static int add_step(struct cursor *c)
{
	if (c->s->n_steps == SCENARIO_STEPS_MAX)
		return refuse(c, c->line, "more than %u steps", SCENARIO_STEPS_MAX);
	c->s->step[c->s->n_steps++] = c->step;
	return 0;
}

static int state_title(struct cursor *c)
{
	c->s->title = rest(c);
	return 0;
}

static int state_capture(struct cursor *c)
{
	c->s->capture = rest(c);
	return c->s->capture ? 0 : refuse(c, c->at, "the file is missing");
}

static int state_limit(struct cursor *c)
{
	return take_time(c, &c->s->limit);
}

static int state_daemon(struct cursor *c)
{
	char *word;

	while ((word = next_word(c))) {
		if (c->s->n_daemon == SCENARIO_DAEMON_MAX)
			return refuse(c, word, "more than %u words", SCENARIO_DAEMON_MAX);
		c->s->daemon[c->s->n_daemon++] = word;
	}
	return 0;
}

static int state_fault(struct cursor *c)
{
	c->step.verb = SCENARIO_FAULT;
	c->step.text = rest(c);
	return c->step.text ? add_step(c) : refuse(c, c->at, "the rule is missing");
}

static int state_optional(struct cursor *c)
{
	if (!accept(c, "fault"))
		return refuse(c, c->at, "it is: optional fault RULE");
	c->step.optional = true;
	return state_fault(c);
}

static int state_remove(struct cursor *c)
{
	c->step.verb = SCENARIO_REMOVE;
	return take_name(c, "the name of a rule") < 0 ? -EINVAL : add_step(c);
}

/* run NAME: COMMAND */
static int state_run(struct cursor *c)
{
	char *word;
	size_t len;

	c->step.verb = SCENARIO_RUN;
	if (need(c, &word, "the name of a run") < 0)
		return -EINVAL;
	len = strlen(word);
	if (len < 2 || word[len - 1] != ':')
		return refuse(c, word, "it is: run NAME: COMMAND");
	word[len - 1] = '\0';
	if (!is_name(word))
		return refuse(c, word, "'%s' cannot be the name of a run", word);
	memcpy(c->step.name, word, len);
	c->step.text = rest(c);
	return c->step.text ? add_step(c) : refuse(c, c->at, "the command is missing");
}

static int state_command(struct cursor *c)
{
	if (c->s->has_command)
		return refuse(c, c->line, "the command can be started once");
	c->s->has_command = true;
	c->step.verb = SCENARIO_COMMAND;
	memcpy(c->step.name, "command", 8);
	return add_step(c);
}

static int state_uhcactl(struct cursor *c)
{
	c->step.verb = SCENARIO_UHCACTL;
	c->step.text = rest(c);
	return c->step.text ? add_step(c) : refuse(c, c->at, "the words for uhcactl are missing");
}

/* kill NAME [SIGNAL]: TERM when nothing is said. */
static int state_kill(struct cursor *c)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"TERM", SIGTERM},
		       {"KILL", SIGKILL},
		       {"INT", SIGINT},
		       {"STOP", SIGSTOP},
		       {"CONT", SIGCONT}};
	char *word;

	c->step.verb = SCENARIO_KILL;
	c->step.number = SIGTERM;
	if (take_name(c, "the name of a run") < 0)
		return -EINVAL;
	word = next_word(c);
	if (!word)
		return add_step(c);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(word, signals[i].name) != 0)
			continue;
		c->step.number = (uint64_t)signals[i].number;
		return add_step(c);
	}
	return refuse(c, word, "a signal is TERM, KILL, INT, STOP or CONT");
}

static int state_wait(struct cursor *c)
{
	char *word;

	c->step.verb = SCENARIO_WAIT;
	if (need(c, &word, "what to wait for") < 0 || take_condition(c, word) < 0)
		return -EINVAL;
	return add_step(c);
}

static int state_expect(struct cursor *c)
{
	char *word;

	c->step.verb = SCENARIO_EXPECT;
	c->step.no = accept(c, "no");
	if (need(c, &word, "what to expect") < 0 || take_condition(c, word) < 0)
		return -EINVAL;
	if (c->step.no && c->step.within)
		return refuse(c, c->line, "what must not be is judged at the end, without a time");
	return add_step(c);
}

static int take_statement(struct cursor *c);

/* after CONDITION: STATEMENT is a wait, and then the statement. */
static int state_after(struct cursor *c)
{
	char *end = strstr(c->at, ": "), *behind, *word;

	if (!end)
		return refuse(c, c->at, "it is: after CONDITION: STATEMENT");
	*end = '\0';
	behind = end + 2;
	c->step.verb = SCENARIO_WAIT;
	if (need(c, &word, "what to wait for") < 0 || take_condition(c, word) < 0 ||
	    at_end(c) < 0 || add_step(c) < 0)
		return -EINVAL;
	c->at = behind;
	return take_statement(c);
}

static const struct {
	const char *word;
	int (*take)(struct cursor *c);
} statements[] = {
	{"title", state_title},     {"limit", state_limit}, {"daemon", state_daemon},
	{"capture", state_capture}, {"fault", state_fault}, {"optional", state_optional},
	{"remove", state_remove},   {"run", state_run},     {"command", state_command},
	{"uhcactl", state_uhcactl}, {"kill", state_kill},   {"wait", state_wait},
	{"expect", state_expect},   {"after", state_after},
};
#define STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static int take_statement(struct cursor *c)
{
	char *word;

	skip_space(c);
	c->step = (struct scenario_step){.line = c->number,
					 .source = c->s->original + (c->at - c->s->memory)};
	if (need(c, &word, "a statement") < 0)
		return -EINVAL;
	for (size_t i = 0; i < STATEMENTS; i++)
		if (strcmp(statements[i].word, word) == 0)
			return statements[i].take(c) < 0 ? -EINVAL : at_end(c);
	return refuse(c, word, "there is no statement '%s'", word);
}

/* ---- all of it ---- */

static int take_line(struct cursor *c)
{
	skip_space(c);
	return !*c->at || *c->at == '#' ? 0 : take_statement(c);
}

static int take_lines(struct scenario *s, struct scenario_error *error)
{
	struct cursor c = {.s = s, .error = error};
	char *next = s->memory;
	int result = 0;

	while (next && result == 0) {
		char *end = strchr(next, '\n');

		c.line = c.at = next;
		c.number++;
		if (end)
			*end = s->original[end - s->memory] = '\0';
		if (end && end > next && end[-1] == '\r')
			end[-1] = '\0';
		next = end ? end + 1 : NULL;
		result = take_line(&c);
	}
	if (result == 0 && s->n_steps == 0)
		result = refuse(&c, c.line, "there is nothing to do in it");
	return result;
}

int scenario_parse(const char *text, struct scenario *out, struct scenario_error *error)
{
	int result = -ENOMEM;

	*out = (struct scenario){.memory = strdup(text), .original = strdup(text)};
	if (out->memory && out->original)
		result = take_lines(out, error);
	if (result < 0)
		scenario_free(out);
	return result;
}

/* The text of a file with a NUL behind it, or NULL with errno. */
static char *read_file(const char *file)
{
	char *text = malloc(FILE_MAX + 1);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 1;

	while (text && fd >= 0 && used < FILE_MAX && n > 0) {
		n = read(fd, text + used, FILE_MAX - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (!text || fd < 0 || n < 0 || used == FILE_MAX) {
		int why = used == FILE_MAX ? EFBIG : errno;

		free(text);
		text = NULL;
		errno = why;
	} else {
		text[used] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

int scenario_load(const char *file, struct scenario *out, struct scenario_error *error)
{
	char *text = read_file(file);
	int result = text ? scenario_parse(text, out, error) : -errno;

	if (!text)
		snprintf(error->text, sizeof(error->text), "%s", strerror(-result));
	if (!text)
		error->line = error->column = 0;
	free(text);
	return result;
}

void scenario_free(struct scenario *s)
{
	free(s->memory);
	free(s->original);
	*s = (struct scenario){.memory = NULL};
}
