/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl fault and replay. What a rule can say is the daemon's business; here its complaints
 * are shown at their place.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/scenario/scenarios.h"
#include "emu/ctl/show/show.h"
#include "emu/words/words.h"
#include "fault_help.h"
#include "live.h"
#include "trace_stable.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define RULE_MAX 8192

struct action {
	const char *name;
	int least, most; /* words, "fault" and the name among them */
	const char *usage;
	int (*run)(const struct ctl_options *o, const struct action *a);
	/* For send: */
	bool names_rule;                   /* in its first word */
	int first;                         /* word of what the rule says; 0: it says nothing */
	void (*say)(const json_t *result); /* what came back */
};

/* ---- complaints ---- */

/* The line with a mark under the word at the column; a line end ends it, tabs count as one. */
static void show_place(const char *text, unsigned column)
{
	size_t len = strcspn(text, "\n");
	size_t at = column - 1;

	if (column == 0 || at > len)
		return;
	fputs("  ", stderr);
	for (size_t i = 0; i < len; i++)
		fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], stderr);
	fprintf(stderr, "\n  %*s^", (int)at, "");
	for (at++; at < len && !isspace((unsigned char)text[at]); at++)
		fputc('~', stderr);
	fputc('\n', stderr);
}

static int complain(const struct ctl_failure *f, const char *text)
{
	if (f->line > 0 && f->column > 0)
		fprintf(stderr, "uhcactl: line %u, column %u: %s\n", f->line, f->column, f->text);
	else if (f->column > 0)
		fprintf(stderr, "uhcactl: column %u: %s\n", f->column, f->text);
	else
		fprintf(stderr, "uhcactl: %s\n", f->text);
	if (text && f->line == 0)
		show_place(text, f->column);
	return f->status;
}

int ctl_order(const struct ctl_options *o, json_t *request, const char *text,
	      void (*say)(const json_t *result))
{
	struct ctl_failure f;
	json_t *result;

	if (ctl_exchange(o->dir, request, &result, &f) != 0)
		return complain(&f, text);
	if (o->json)
		ctl_print_json(json_incref(result));
	else
		say(result);
	json_decref(result);
	return 0;
}

/* ---- rules ---- */

/* The words from the first on, with blanks between: a rule that nobody put into quotes. */
static bool join(const struct ctl_options *o, int first, char out[RULE_MAX])
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = first; i < o->n_words && n < RULE_MAX; i++)
		n += (size_t)snprintf(out + n, RULE_MAX - n, "%s%s", i > first ? " " : "",
				      o->word[i]);
	return n < RULE_MAX;
}

/* A number, unless it looks like a name. */
static json_t *rule_of(const char *word)
{
	uint64_t n;

	return ctl_number(word, 10, LONG_MAX, &n) ? json_integer((json_int_t)n) : json_string(word);
}

static void say_rule(const json_t *result)
{
	printf("rule %" JSON_INTEGER_FORMAT "\n", ctl_number_in(result, UHCA_CTL_RULE));
}

static void say_removed(const json_t *result)
{
	json_int_t hits = ctl_number_in(result, UHCA_CTL_HITS);
	char why[512];

	printf("rule %" JSON_INTEGER_FORMAT " removed; ", ctl_number_in(result, UHCA_CTL_RULE));
	if (hits > 0)
		printf("it fired %" JSON_INTEGER_FORMAT " time%s, of %" JSON_INTEGER_FORMAT
		       " that matched\n",
		       hits, words_plural((unsigned long long)hits),
		       ctl_number_in(result, UHCA_CTL_MATCHED));
	else
		printf("%s\n", ctl_never_fired(result, why, sizeof(why)));
}

static void say_cleared(const json_t *result)
{
	json_int_t n = ctl_number_in(result, UHCA_CTL_RULES);

	printf("%" JSON_INTEGER_FORMAT " rule%s removed\n", n, words_plural((unsigned long long)n));
}

static void say_added(const json_t *result)
{
	json_int_t n = ctl_number_in(result, UHCA_CTL_RULES);

	printf("%" JSON_INTEGER_FORMAT " rule%s\n", n, words_plural((unsigned long long)n));
}

static void say_done(const json_t *result)
{
	json_int_t n = ctl_number_in(result, UHCA_CTL_DEVICES);

	printf("done to %" JSON_INTEGER_FORMAT " device%s\n", n,
	       words_plural((unsigned long long)n));
}

/* Sends which rule it is about, and what a rule says, where the action has these. */
static int send(const struct ctl_options *o, const struct action *a)
{
	char text[RULE_MAX];
	json_t *request;

	if (a->first && !join(o, a->first, text))
		return ctl_expected(a->usage);
	request = ctl_command("fault", a->name);
	if (a->names_rule)
		json_object_set_new(request, UHCA_CTL_RULE, rule_of(o->word[2]));
	if (a->first)
		json_object_set_new(request, UHCA_CTL_TEXT, json_string(text));
	return ctl_order(o, request, a->first ? text : NULL, a->say);
}

static int take_file(const struct ctl_options *o, const char *action, const char *file)
{
	char path[2 * PATH_MAX];
	int status = ctl_absolute_path(file, path);
	json_t *request;

	if (status != 0)
		return status;
	request = ctl_command("fault", action);
	json_object_set_new(request, UHCA_CTL_FILE, json_string(path));
	return ctl_order(o, request, NULL, say_added);
}

static int load(const struct ctl_options *o, const struct action *a)
{
	return take_file(o, a->name, o->word[2]);
}

int ctl_replay(const struct ctl_options *o)
{
	if (o->n_words != 2)
		return ctl_expected("replay FILE");
	return take_file(o, "replay", o->word[1]);
}

/* ---- the list ---- */

/* A table of the rules as ctl_table_print takes it. */
static json_t *table_of(const json_t *rules)
{
	static const char *const column[] = {UHCA_CTL_RULE, UHCA_CTL_HITS, UHCA_CTL_MATCHED,
					     UHCA_CTL_LAYER, UHCA_CTL_TEXT};
	json_t *columns = json_array();
	json_t *rows = json_array();
	const json_t *rule;
	size_t i;

	for (size_t c = 0; c < 5; c++)
		json_array_append_new(columns, json_pack("{s:s, s:b}", UHCA_CTL_NAME, column[c],
							 UHCA_CTL_HEX, 0));
	json_array_foreach(rules, i, rule)
	{
		json_t *row = json_array();

		for (size_t c = 0; c < 5; c++)
			json_array_append(row, json_object_get(rule, column[c]));
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o, s:o}", UHCA_CTL_COLUMNS, columns, UHCA_CTL_ROWS, rows);
}

static void say_list(const json_t *result)
{
	const json_t *rules = json_object_get(result, UHCA_CTL_RULES), *rule;
	json_t *table;
	char why[512];
	size_t i;

	printf("seed %s\n", ctl_text_in(result, UHCA_CTL_SEED));
	if (json_array_size(rules) == 0) {
		puts("no rules");
		return;
	}
	table = table_of(rules);
	ctl_table_print(stdout, table, false);
	json_decref(table);
	json_array_foreach(rules, i, rule)
	{
		if (ctl_number_in(rule, UHCA_CTL_HITS) == 0)
			printf("rule %" JSON_INTEGER_FORMAT ": %s\n",
			       ctl_number_in(rule, UHCA_CTL_RULE),
			       ctl_never_fired(rule, why, sizeof(why)));
	}
}

/* ---- the trace ---- */

static void write_lines(FILE *out, const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) fprintf(out, "%s\n", json_string_value(line));
}

static int fetch_trace(const struct ctl_options *o, json_t *all)
{
	json_int_t lost;
	struct ctl_failure f;
	int status = ctl_fetch_trace(o->dir, all, &lost, &f);

	if (status != 0)
		return complain(&f, NULL);
	if (lost > 0)
		fprintf(stderr,
			"uhcactl: the daemon no longer has the first %" JSON_INTEGER_FORMAT
			" lines of the trace\n",
			lost);
	return 0;
}

static int trace(const struct ctl_options *o, const struct action *a)
{
	const char *file = o->n_words > 2 ? o->word[2] : "-";
	json_t *all, *stable;
	FILE *out;
	int status;

	(void)a;
	out = ctl_file_open("uhcactl", file);
	if (!out)
		return CTL_EXIT_FAILED;
	all = json_array();
	status = fetch_trace(o, all);
	if (o->stable) {
		stable = trace_stable(all);
		json_decref(all);
		all = stable;
	}
	if (!o->json)
		write_lines(out, all);
	else if (status == 0 && json_dumpf(all, out, JSON_INDENT(2)) == 0)
		fputc('\n', out);
	if (!ctl_file_close("uhcactl", file, out))
		status = CTL_EXIT_FAILED;
	json_decref(all);
	return status;
}

/* ---- */

static void unknown_word(const char *word)
{
	const char *nearest = words_nearest(word, strlen(word), ctl_fault_word_at, NULL);
	char hint[WORDS_HINT_MAX];

	words_hint(nearest, hint, sizeof(hint));
	fprintf(stderr, "uhcactl: unknown rule word '%s'%s 'uhcactl fault help' lists them\n", word,
		nearest ? hint : ";");
}

/* Of no daemon: what can be said is the same with all. */
static int help(const struct ctl_options *o, const struct action *a)
{
	const char *word = o->n_words > 2 ? o->word[2] : NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool known = true;

	(void)a;
	if (!out)
		return CTL_EXIT_FAILED;
	if (word)
		known = ctl_fault_help_word(out, word);
	else
		ctl_fault_help(out);
	fclose(out);
	if (!known)
		unknown_word(word);
	else if (o->json)
		ctl_print_json(
			json_pack("{s:s, s:s}", "word", word ? word : "", UHCA_CTL_TEXT, text));
	else
		fputs(text, stdout);
	free(text);
	return known ? 0 : CTL_EXIT_USAGE;
}

static const struct action actions[] = {
	{"add", 3, INT_MAX, "fault add 'RULE'", send, .first = 2, .say = say_rule},
	{"list", 2, 2, "fault list", send, .say = say_list},
	{"remove", 3, 3, "fault remove N|NAME", send, .names_rule = true, .say = say_removed},
	{"change", 4, INT_MAX, "fault change N|NAME 'RULE'", send, true, 3, say_rule},
	{"clear", 2, 2, "fault clear", send, .say = say_cleared},
	{"load", 3, 3, "fault load FILE", .run = load},
	{"trace", 2, 3, "fault trace [FILE]", .run = trace},
	{"help", 2, 3, "fault help [WORD]", .run = help},
	{"now", 3, INT_MAX, "fault now 'ACTION [dev=NAME]'", send, .first = 2, .say = say_done},
};

int ctl_fault(const struct ctl_options *o)
{
	const struct action *a = words_row(WORDS_ROWS(actions), o->n_words > 1 ? o->word[1] : NULL);

	if (o->n_words < 2)
		return ctl_expected(
			"fault add, now, list, change, remove, clear, load, trace or help");
	if (!a)
		return ctl_no_such("command of fault", o->word[1], words_row_at,
				   WORDS_ROWS(actions));
	if (o->n_words < a->least || o->n_words > a->most)
		return ctl_expected(a->usage);
	return a->run(o, a);
}
