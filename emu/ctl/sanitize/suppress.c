/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads suppression files, and matches diagnostics against them. */
#include "suppress.h"

#include "emu/words/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS " \t\r\n"

enum kind { KIND_FUNCTION, KIND_FILE, KIND_OBJECT, KIND_FACT, KIND_PROGRAM, KIND_COUNT };

#define CONDITIONS 4u

struct suppression {
	struct suppression *next;
	char *check;
	struct condition {
		enum kind kind;
		char *pattern;
	} conditions[CONDITIONS]; /* each must hold */
	unsigned n;
	bool stock;
};

static struct suppression *list;

static const char *const kinds[KIND_COUNT + 1] = {"function", "file",    "object",
						  "fact",     "program", NULL};

static bool find_kind(const char *word, enum kind *out)
{
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		if (strcmp(kinds[i], word) == 0) {
			*out = (enum kind)i;
			return true;
		}
	}
	return false;
}

static const char *check_at(const void *table, unsigned i)
{
	(void)table;
	return i < UHCA_CHECK_COUNT ? found_check((enum uhca_check)i)->name : NULL;
}

static bool is_check(const char *word)
{
	return strcmp(word, "*") == 0 || words_has(word, check_at, NULL);
}

static char refusal[2048];

/* NULL, or what is wrong with "KIND PATTERN". */
static const char *add_condition(struct suppression *s, const char *kind, const char *pattern)
{
	struct condition *c = &s->conditions[s->n];
	if (!pattern || s->n == CONDITIONS)
		return "expected: CHECK KIND PATTERN, and at most 3 more KIND PATTERN";
	if (!find_kind(kind, &c->kind))
		return words_refuse(refusal, sizeof(refusal), "KIND", kind, words_at, kinds);
	c->pattern = strdup(pattern);
	s->n++;
	return c->pattern ? NULL : "no memory";
}

/* NULL, or what is wrong with the line. */
static const char *add(char *text, bool stock)
{
	char *save, *check = strtok_r(text, SEPARATORS, &save);
	const char *wrong = NULL, *kind;
	struct suppression *s;
	if (!check)
		return NULL;
	if (!is_check(check))
		return words_refuse(refusal, sizeof(refusal), "check", check, check_at, NULL);
	s = calloc(1, sizeof(*s));
	if (!s || !(s->check = strdup(check)))
		return "no memory";
	kind = strtok_r(NULL, SEPARATORS, &save);
	do
		wrong = add_condition(s, kind, kind ? strtok_r(NULL, SEPARATORS, &save) : NULL);
	while (!wrong && (kind = strtok_r(NULL, SEPARATORS, &save)));
	if (wrong)
		return wrong;
	s->stock = stock;
	s->next = list;
	list = s;
	return NULL;
}

int suppress_read(const char *path, bool stock)
{
	char line[1024];
	int number = 0;
	FILE *f = fopen(path, "r");
	if (!f) {
		int e = errno;
		fprintf(stderr, "uhca-run: --suppress: %s: %s\n", path, strerror(e));
		return -e;
	}
	const char *wrong = NULL;
	while (!wrong && fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "#")] = '\0';
		wrong = add(line, stock);
	}
	fclose(f);
	if (!wrong)
		return 0;
	fprintf(stderr, "uhca-run: %s:%d: %s\n", path, number, wrong);
	return -EINVAL;
}

static bool matches(const char *pattern, const char *name, bool is_path)
{
	const char *slash = name && is_path ? strrchr(name, '/') : NULL;
	if (!name)
		return false;
	return fnmatch(pattern, name, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool matches_frame(const struct condition *c, const struct found_frame *f)
{
	switch (c->kind) {
	case KIND_FUNCTION:
		return matches(c->pattern, f->function, false) ||
		       matches(c->pattern, f->symbol, false);
	case KIND_FILE:
		return matches(c->pattern, f->file, true);
	case KIND_OBJECT:
		return matches(c->pattern, f->module, true);
	case KIND_FACT:
	case KIND_PROGRAM:
	case KIND_COUNT:
		break;
	}
	return false;
}

/* The process, a fact of the finding, or a frame of its first stack. */
static bool holds(const struct condition *c, const struct found *f)
{
	if (c->kind == KIND_PROGRAM)
		return matches(c->pattern, f->program, false);
	for (unsigned i = 0; c->kind == KIND_FACT && i < f->n_facts; i++)
		if (matches(c->pattern, f->facts[i], false))
			return true;
	for (unsigned i = 0; f->n_stacks && i < f->stacks[0].n_frames; i++)
		if (matches_frame(c, &f->stacks[0].frames[i]))
			return true;
	return false;
}

static bool matches_finding(const struct suppression *s, const struct found *f)
{
	if (strcmp(s->check, "*") != 0 && strcmp(s->check, found_check(f->check)->name) != 0)
		return false;
	for (unsigned i = 0; i < s->n; i++)
		if (!holds(&s->conditions[i], f))
			return false;
	return true;
}

enum suppressed suppress_has(const struct found *f)
{
	enum suppressed by = SUPPRESSED_NOT;
	for (const struct suppression *s = list; s && by != SUPPRESSED_BY_USER; s = s->next)
		if (matches_finding(s, f))
			by = s->stock ? SUPPRESSED_AS_STOCK : SUPPRESSED_BY_USER;
	return by;
}
