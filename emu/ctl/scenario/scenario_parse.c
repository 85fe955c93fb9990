/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See scenario.h. A line is cut into words in place; what a command or a rule is, the shell and the
 * daemon know, so these stay whole.
 */
#include "scenario_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

/* ---- statements ---- */

static int add_step(struct scenario_cursor *c)
{
	if (c->s->n_steps == SCENARIO_STEPS_MAX)
		return scenario_refuse(c, c->line, "more than %u steps", SCENARIO_STEPS_MAX);
	c->s->step[c->s->n_steps++] = c->step;
	return 0;
}

static int state_title(struct scenario_cursor *c)
{
	if (c->s->title)
		return scenario_refuse(c, c->line, "the title is given twice");
	c->s->title = scenario_rest(c);
	return c->s->title ? 0 : scenario_refuse(c, c->at, "the title is missing");
}

static int state_capture(struct scenario_cursor *c)
{
	if (c->s->capture)
		return scenario_refuse(c, c->line, "the capture is given twice");
	c->s->capture = scenario_rest(c);
	return c->s->capture ? 0 : scenario_refuse(c, c->at, "the file is missing");
}

static int state_limit(struct scenario_cursor *c)
{
	if (c->s->limit)
		return scenario_refuse(c, c->line, "the limit is given twice");
	return scenario_take_time(c, &c->s->limit);
}

static int state_daemon(struct scenario_cursor *c)
{
	char *word;

	scenario_skip_space(c);
	if (!*c->at)
		return scenario_refuse(c, c->at, "the options are missing");
	if (!c->s->daemon_line)
		c->s->daemon_line = c->number;
	while ((word = scenario_word(c))) {
		if (c->s->n_daemon == SCENARIO_DAEMON_MAX)
			return scenario_refuse(c, word, "more than %u words", SCENARIO_DAEMON_MAX);
		c->s->daemon[c->s->n_daemon++] = word;
	}
	return 0;
}

static int state_fault(struct scenario_cursor *c)
{
	c->step.verb = SCENARIO_FAULT;
	c->step.text = scenario_rest(c);
	if (!c->step.text)
		return scenario_refuse(c, c->at, "the rule is missing");
	c->step.column = scenario_column(c, c->step.text);
	return add_step(c);
}

static int state_optional(struct scenario_cursor *c)
{
	if (!scenario_accept(c, "fault"))
		return scenario_refuse(c, c->at, "expected: optional fault RULE");
	c->step.optional = true;
	return state_fault(c);
}

static int state_remove(struct scenario_cursor *c)
{
	c->step.verb = SCENARIO_REMOVE;
	return scenario_take_rule(c) < 0 ? -EINVAL : add_step(c);
}

/* run NAME: COMMAND */
static int state_run(struct scenario_cursor *c)
{
	char *word;
	size_t len;

	c->step.verb = SCENARIO_RUN;
	if (scenario_need(c, &word, "the name of a run") < 0)
		return -EINVAL;
	len = strlen(word);
	if (len < 2 || word[len - 1] != ':')
		return scenario_refuse(c, word, "expected: run NAME: COMMAND");
	word[len - 1] = '\0';
	if (!scenario_is_name(word))
		return scenario_refuse(c, word, "'%s' is not a valid run name", word);
	if (scenario_has_run(c->s, word) || strcmp(word, SCENARIO_OF_COMMAND) == 0)
		return scenario_refuse(c, word, "the run name '%s' is already used", word);
	memcpy(c->step.name, word, len);
	c->step.text = scenario_rest(c);
	c->s->has_peer |= c->step.peer;
	return c->step.text ? add_step(c) : scenario_refuse(c, c->at, "the command is missing");
}

static int state_command(struct scenario_cursor *c)
{
	if (c->s->has_command)
		return scenario_refuse(c, c->line, "the command can start only once");
	c->s->has_command = true;
	c->step.verb = SCENARIO_COMMAND;
	memcpy(c->step.name, SCENARIO_OF_COMMAND, sizeof(SCENARIO_OF_COMMAND));
	return add_step(c);
}

static int state_uhcactl(struct scenario_cursor *c)
{
	c->step.verb = SCENARIO_UHCACTL;
	c->step.text = scenario_rest(c);
	return c->step.text ? add_step(c)
			    : scenario_refuse(c, c->at, "the arguments of uhcactl are missing");
}

/* kill NAME [SIGNAL]: TERM when nothing is said. */
static int state_kill(struct scenario_cursor *c)
{
	static const char *const signals[] = {"TERM", "KILL", "INT", "STOP", "CONT", NULL};
	static const int numbers[] = {SIGTERM, SIGKILL, SIGINT, SIGSTOP, SIGCONT};
	char *word;

	c->step.verb = SCENARIO_KILL;
	c->step.number = SIGTERM;
	if (scenario_take_run(c) < 0)
		return -EINVAL;
	word = scenario_word(c);
	if (!word)
		return add_step(c);
	for (size_t i = 0; signals[i]; i++) {
		if (strcmp(word, signals[i]) != 0)
			continue;
		c->step.number = (uint64_t)numbers[i];
		return add_step(c);
	}
	return scenario_no_such(c, word, "signal", words_at, signals);
}

/* peer STATEMENT, of those that a daemon or a program of it carries out. */
static int state_peer(struct scenario_cursor *c)
{
	static const struct {
		const char *word;
		int (*take)(struct scenario_cursor *c);
	} of[] = {{"run", state_run},
		  {"fault", state_fault},
		  {"optional", state_optional},
		  {"uhcactl", state_uhcactl}};

	c->step.peer = true;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (scenario_accept(c, of[i].word))
			return of[i].take(c);
	return scenario_refuse(c, c->at,
			       "'peer' stands before run, fault, optional fault or uhcactl");
}

static int state_wait(struct scenario_cursor *c)
{
	char *word;

	c->step.verb = SCENARIO_WAIT;
	if (scenario_need(c, &word, "the condition") < 0 || scenario_take_condition(c, word) < 0)
		return -EINVAL;
	return add_step(c);
}

static int state_expect(struct scenario_cursor *c)
{
	char *word;

	c->step.verb = SCENARIO_EXPECT;
	c->step.no = scenario_accept(c, "no");
	if (scenario_need(c, &word, "the condition") < 0 || scenario_take_condition(c, word) < 0)
		return -EINVAL;
	if (c->step.no && c->step.within)
		return scenario_refuse(c, c->line,
				       "'expect no' is checked at the end and takes no time");
	return add_step(c);
}

static int take_statement(struct scenario_cursor *c);

/* after CONDITION: STATEMENT is a wait, and then the statement. */
static int state_after(struct scenario_cursor *c)
{
	char *end = strstr(c->at, ": "), *behind, *word;

	if (!end)
		return scenario_refuse(c, c->at, "expected: after CONDITION: STATEMENT");
	*end = '\0';
	behind = end + 2;
	c->step.verb = SCENARIO_WAIT;
	if (scenario_need(c, &word, "the condition") < 0 || scenario_take_condition(c, word) < 0 ||
	    scenario_at_end(c) < 0 || add_step(c) < 0)
		return -EINVAL;
	c->at = behind;
	return take_statement(c);
}

static const struct statement {
	const char *word;
	int (*take)(struct scenario_cursor *c);
} statements[] = {
	{"title", state_title},     {"limit", state_limit}, {"daemon", state_daemon},
	{"capture", state_capture}, {"fault", state_fault}, {"optional", state_optional},
	{"remove", state_remove},   {"run", state_run},     {"command", state_command},
	{"uhcactl", state_uhcactl}, {"kill", state_kill},   {"wait", state_wait},
	{"expect", state_expect},   {"after", state_after}, {"peer", state_peer},
};

static int take_statement(struct scenario_cursor *c)
{
	const struct statement *s;
	char *word;

	scenario_skip_space(c);
	c->step = (struct scenario_step){.line = c->number,
					 .source = c->s->original + (c->at - c->s->memory)};
	if (scenario_need(c, &word, "a statement") < 0)
		return -EINVAL;
	s = words_row(WORDS_ROWS(statements), word);
	if (!s)
		return scenario_no_such(c, word, "statement", words_row_at, WORDS_ROWS(statements));
	return s->take(c) < 0 ? -EINVAL : scenario_at_end(c);
}

/* ---- all of it ---- */

static int take_line(struct scenario_cursor *c)
{
	scenario_skip_space(c);
	return !*c->at || *c->at == '#' ? 0 : take_statement(c);
}

static int take_lines(struct scenario *s, struct scenario_error *error)
{
	struct scenario_cursor c = {.s = s, .error = error};
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
		result = scenario_refuse(&c, c.line, "the scenario has no statement");
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
	/* behind a NUL nothing would be read */
	if (!text || fd < 0 || n < 0 || used == FILE_MAX || memchr(text, '\0', used)) {
		int why = used == FILE_MAX ? EFBIG : n < 0 || fd < 0 || !text ? errno : EILSEQ;

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
