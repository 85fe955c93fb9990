/* SPDX-License-Identifier: BSD-2-Clause */
/* See options.h. Of two options whose names begin alike the one with that very name is meant. */
#include "options.h"

#include "emu/words/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 26
#define WIDTH  80

/* ---- parsing ---- */

static int store(const struct option_row *row, void *into, long value)
{
	char *field = (char *)into + row->offset;
	const bool flag = value != 0;
	const int number = (int)value;

	if (row->size == sizeof(bool))
		memcpy(field, &flag, sizeof(flag));
	else
		memcpy(field, &number, sizeof(number));
	return 0;
}

static int store_number(const struct option_row *row, void *into, const char *argument, char *error,
			size_t cap)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(argument, &end, 10);
	if (end != argument && !*end && !errno && v >= row->min && v <= row->max)
		return store(row, into, v);
	snprintf(error, cap, "'%s' is not a number from %ld to %ld", argument, row->min, row->max);
	return -EINVAL;
}

static int store_choice(const struct option_row *row, void *into, const char *argument, char *error,
			size_t cap)
{
	for (long i = 0; row->choices[i]; i++)
		if (strcmp(row->choices[i], argument) == 0)
			return store(row, into, i);
	words_refuse(error, cap, "value", argument, words_at, row->choices);
	return -EINVAL;
}

static int store_text(const struct option_row *row, void *into, const char *argument, char *error,
		      size_t cap)
{
	const size_t length = strlen(argument);

	if (length == 0 || length > (size_t)row->max) {
		snprintf(error, cap, "must have 1 to %ld characters", row->max);
		return -EINVAL;
	}
	memcpy((char *)into + row->offset, argument, length + 1);
	return 0;
}

static int store_word(const struct option_row *row, void *into, const char *argument, char *error,
		      size_t cap)
{
	if (strlen(argument) < (size_t)row->min) {
		snprintf(error, cap, "must not be empty");
		return -EINVAL;
	}
	memcpy((char *)into + row->offset, &argument, sizeof(argument));
	return 0;
}

static int apply(const struct option_row *row, void *into, const char *argument, char *error,
		 size_t cap)
{
	switch (row->kind) {
	case OPTION_SET:
		return row->set(into, row, argument, error, cap);
	case OPTION_FLAG:
		return store(row, into, row->min);
	case OPTION_NUMBER:
		return store_number(row, into, argument, error, cap);
	case OPTION_TEXT:
		return store_text(row, into, argument, error, cap);
	case OPTION_WORD:
		return store_word(row, into, argument, error, cap);
	case OPTION_CHOICE:
		return store_choice(row, into, argument, error, cap);
	}
	__builtin_unreachable();
}

static bool is_end(const struct option_row *row)
{
	return !row->name && !row->help;
}

/* Without the dashes: it is the letters that are misspelt. A title is no name. */
static const char *name_at(const void *table, unsigned i)
{
	const struct option_row *row = (const struct option_row *)table + i;

	if (is_end(row))
		return NULL;
	return row->name ? row->name + 2 : "";
}

static bool begins(const struct option_row *row, const char *word, size_t length)
{
	return row->name && strncmp(row->name, word, length) == 0;
}

const struct option_row *options_find(const struct option_row *rows, const char *word)
{
	const size_t length = strcspn(word, "=");
	const struct option_row *begun = NULL;
	unsigned n_begun = 0;

	for (const struct option_row *row = rows; !is_end(row); row++) {
		if (length == 2 && word[0] == '-' && row->letter && row->letter == word[1])
			return row;
		if (length <= 2 || !begins(row, word, length))
			continue;
		if (!row->name[length])
			return row;
		begun = row;
		n_begun++;
	}
	return n_begun == 1 ? begun : NULL;
}

/* "--dri=x": of its name it is found which one was meant, or which ones. */
static int refuse(const struct option_row *rows, const char *word, size_t length, char *error,
		  size_t cap)
{
	const char *nearest =
		length > 2 ? words_nearest(word + 2, length - 2, name_at, rows) : NULL;
	char meant[512] = "";
	size_t n = 0;

	for (const struct option_row *row = rows; length > 2 && !is_end(row); row++)
		if (begins(row, word, length) && n < sizeof(meant))
			n += (size_t)snprintf(meant + n, sizeof(meant) - n, "%s'%s'",
					      n ? " or " : "", row->name);
	if (n == 0 && nearest)
		snprintf(meant, sizeof(meant), "'--%s'", nearest);
	if (*meant)
		snprintf(error, cap, "unknown option %.*s: did you mean %s?", (int)length, word,
			 meant);
	else
		snprintf(error, cap, "unknown option %.*s", (int)length, word);
	return -EINVAL;
}

int options_take(const struct option_row *rows, void *into, char *const *argv, char *error,
		 size_t cap)
{
	const size_t length = strcspn(argv[0], "=");
	const char *argument = argv[0][length] ? argv[0] + length + 1 : NULL;
	const struct option_row *row;
	bool needed;
	char why[768];
	int used = 1;

	if (argv[0][0] != '-' || !argv[0][1] || strcmp(argv[0], "--") == 0)
		return 0;
	row = options_find(rows, argv[0]);
	if (!row)
		return refuse(rows, argv[0], length, error, cap);
	needed = row->argument && row->argument[0] != '[';
	if (needed && !argument) {
		argument = argv[1];
		used = 2;
	}
	if (!row->argument && argument)
		snprintf(error, cap, "%s takes no argument", row->name);
	else if (needed && !argument)
		snprintf(error, cap, "%s needs an argument (%s)", row->name, row->argument);
	else if (apply(row, into, argument, why, sizeof(why)) < 0)
		snprintf(error, cap, "%s: %s", row->name, why);
	else
		return used;
	return -EINVAL;
}

OPTION_SETTER(options_set_about)
{
	struct options_about *about = (void *)((char *)into + row->offset);

	if (argument && strcmp(argument, "man") != 0) {
		snprintf(error, cap, "'%s' is not 'man'", argument);
		return -EINVAL;
	}
	about->help = true;
	about->man = argument != NULL;
	return 0;
}

/* ---- printing ---- */

/* Words of the text, broken into lines that begin at COLUMN. */
static void print_wrapped(FILE *out, const char *text)
{
	int column = COLUMN;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > COLUMN && column + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", COLUMN, "");
			column = COLUMN;
		}
		column += fprintf(out, "%s%.*s", column > COLUMN ? " " : "", len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* A plain hyphen would be typeset as one. */
static void print_roff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\n', out);
}

static void print_row(const struct option_row *row, bool man, FILE *out)
{
	const char *argument = row->argument ? row->argument : "";
	char name[96], letter[32] = "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c %s, ", row->letter, argument);
	snprintf(name, sizeof(name), "%s%s%s%s", letter, row->name,
		 *argument && *argument != '[' ? " " : "", argument);
	if (man) {
		fputs(".TP\n.B ", out);
		print_roff(out, name);
		print_roff(out, row->help);
		return;
	}
	fprintf(out, "  %-*s", COLUMN - 2, name);
	if (strlen(name) >= COLUMN - 2)
		fprintf(out, "\n%*s", COLUMN, "");
	print_wrapped(out, row->help);
}

static void print_rows(const struct option_row *row, bool man, FILE *out)
{
	for (; !is_end(row); row++) {
		if (row->hidden)
			continue;
		if (row->name)
			print_row(row, man, out);
		else
			fprintf(out, man ? ".SS %s\n" : "\n%s:\n", row->help);
	}
}

void options_print(const struct options_page *page, bool man, FILE *out)
{
	fputs(man ? "" : page->usage, out);
	if (page->commands) {
		fputs(man ? ".SH COMMANDS\n" : "", out);
		print_rows(page->commands, man, out);
	}
	fputs(man ? ".SH OPTIONS\n" : "", out);
	print_rows(page->rows, man, out);
	fputs(man ? "" : page->end, out);
}

bool options_answer(const struct options_page *page, const struct options_about *about)
{
	if (about->help)
		options_print(page, about->man, stdout);
	else if (about->version)
		printf("%s %s\n", page->program, page->version);
	return about->help || about->version;
}
