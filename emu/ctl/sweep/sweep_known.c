/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the file of accepted findings and applies it. */
#include "sweep_known.h"

#include "emu/words/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	unsigned number;
	char *text; /* the words point into it */
	char *of, *run, *pattern;
	unsigned used;
};

struct sweep_known {
	const char *file;
	struct line *line;
	unsigned n;
};

static const char *name_at(const void *table, unsigned i)
{
	(void)table;
	if (i == SWEEP_DIAGNOSTICS)
		return "*";
	return i < SWEEP_DIAGNOSTICS ? sweep_diagnostic_name((enum sweep_fault_of_test)i) : NULL;
}

static int complain(const struct sweep_known *k, unsigned line, const char *why)
{
	fprintf(stderr, "uhca-run: --known %s: line %u: %s\n", k->file, line, why);
	return -EINVAL;
}

static int split(const struct sweep_known *k, struct line *l)
{
	const char blanks[] = " \t\r\n";
	char *rest, why[256];

	l->of = strtok_r(l->text, blanks, &rest);
	l->run = strtok_r(NULL, blanks, &rest);
	l->pattern = strtok_r(NULL, blanks, &rest);
	if (!words_has(l->of, name_at, NULL))
		return complain(k, l->number,
				words_refuse(why, sizeof(why), "finding", l->of, name_at, NULL));
	if (!l->run)
		return complain(k, l->number,
				"a pattern for the run is missing, such as call/create_qp/*");
	if (strtok_r(NULL, blanks, &rest))
		return complain(k, l->number,
				"a word too many: FINDING RUN [PATTERN]; use ? for "
				"a blank");
	return 0;
}

static int add(struct sweep_known *k, const char *text, unsigned number)
{
	struct line l = {.number = number, .text = strdup(text)}, *more;

	if (!l.text)
		return -ENOMEM;
	l.text[strcspn(l.text, "#")] = '\0';
	if (l.text[strspn(l.text, " \t\r\n")] == '\0') {
		free(l.text);
		return 0;
	}
	more = reallocarray(k->line, k->n + 1, sizeof(*more));
	if (!more) {
		free(l.text);
		return -ENOMEM;
	}
	k->line = more;
	k->line[k->n] = l;
	return split(k, &k->line[k->n++]);
}

static int read_lines(struct sweep_known *k, FILE *f)
{
	char *text = NULL;
	unsigned number = 0;
	size_t cap = 0;
	int error = 0;

	while (error == 0 && getline(&text, &cap, f) >= 0)
		error = add(k, text, ++number);
	if (error == 0 && ferror(f))
		error = complain(k, number, strerror(errno));
	free(text);
	return error;
}

int sweep_known_read(const char *file, struct sweep_known **out)
{
	FILE *f = file ? fopen(file, "re") : NULL;
	int error;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->file = file;
	if (!file)
		return 0;
	if (!f) {
		error = -errno;
		fprintf(stderr, "uhca-run: --known %s: %s\n", file, strerror(-error));
		return error;
	}
	error = read_lines(*out, f);
	fclose(f);
	return error;
}

void sweep_known_free(struct sweep_known *known)
{
	for (unsigned i = 0; known && i < known->n; i++)
		free(known->line[i].text);
	if (known)
		free(known->line);
	free(known);
}

/* A frame is a line of the stack: "#0 ibv_modify_qp (libibverbs.so.1)". */
static bool stack_has(const char *stack, const char *pattern)
{
	char frame[512], in_it[512];

	snprintf(in_it, sizeof(in_it), "*%s*", pattern);
	for (size_t n; *stack; stack += n + (stack[n] == '\n')) {
		n = strcspn(stack, "\n");
		snprintf(frame, sizeof(frame), "%.*s", (int)n, stack);
		if (fnmatch(in_it, frame, 0) == 0)
			return true;
	}
	return false;
}

static bool applies(const struct line *l, const char *run, const struct sweep_diagnostic *f)
{
	if (strcmp(l->of, "*") != 0 && strcmp(l->of, sweep_diagnostic_name(f->of)) != 0)
		return false;
	if (fnmatch(l->run, run, 0) != 0)
		return false;
	return !l->pattern || fnmatch(l->pattern, f->what, 0) == 0 ||
	       stack_has(f->stack, l->pattern);
}

bool sweep_known_has(struct sweep_known *known, const struct sweep_item *item,
		     const struct sweep_diagnostic *diagnostic)
{
	char run[SWEEP_NAME_MAX];

	sweep_item_name(item, run);
	for (unsigned i = 0; i < known->n; i++) {
		if (!applies(&known->line[i], run, diagnostic))
			continue;
		known->line[i].used++;
		return true;
	}
	return false;
}

void sweep_known_print_unused(const struct sweep_known *known)
{
	for (unsigned i = 0; i < known->n; i++)
		if (!known->line[i].used)
			fprintf(stderr, "uhca-run: --known %s: line %u applies to nothing: %s %s\n",
				known->file, known->line[i].number, known->line[i].of,
				known->line[i].run);
}
