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

enum kind { KIND_FUNCTION, KIND_FILE, KIND_OBJECT, KIND_COUNT };

struct suppression {
	struct suppression *next;
	char *check;
	char *pattern;
	enum kind kind;
};

static struct suppression *list;

static const char *const kinds[KIND_COUNT + 1] = {"function", "file", "object", NULL};

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

/* NULL, or what is wrong with the line. */
static const char *add(char *text)
{
	static char refusal[2048];
	char *save, *check = strtok_r(text, SEPARATORS, &save);
	char *kind = strtok_r(NULL, SEPARATORS, &save);
	char *pattern = strtok_r(NULL, SEPARATORS, &save);
	struct suppression *s;
	if (!check)
		return NULL;
	if (!is_check(check))
		return words_refuse(refusal, sizeof(refusal), "check", check, check_at, NULL);
	if (!pattern || strtok_r(NULL, SEPARATORS, &save))
		return "expected: CHECK KIND PATTERN";
	s = calloc(1, sizeof(*s));
	if (!s || !(s->check = strdup(check)) || !(s->pattern = strdup(pattern)))
		return "no memory";
	if (!find_kind(kind, &s->kind))
		return words_refuse(refusal, sizeof(refusal), "KIND", kind, words_at, kinds);
	s->next = list;
	list = s;
	return NULL;
}

int suppress_read(const char *path)
{
	char line[1024];
	int number = 0;
	FILE *f = fopen(path, "r");
	if (!f) {
		int e = errno;
		fprintf(stderr, "uhca-run: %s: %s\n", path, strerror(e));
		return -e;
	}
	const char *wrong = NULL;
	while (!wrong && fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "#")] = '\0';
		wrong = add(line);
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

static bool matches_frame(const struct suppression *s, const struct found_frame *f)
{
	switch (s->kind) {
	case KIND_FUNCTION:
		return matches(s->pattern, f->function, false) ||
		       matches(s->pattern, f->symbol, false);
	case KIND_FILE:
		return matches(s->pattern, f->file, true);
	case KIND_OBJECT:
		return matches(s->pattern, f->module, true);
	case KIND_COUNT:
		break;
	}
	return false;
}

bool suppress_has(const struct found *f)
{
	for (const struct suppression *s = list; s; s = s->next) {
		if (strcmp(s->check, "*") != 0 &&
		    strcmp(s->check, found_check(f->check)->name) != 0)
			continue;
		for (unsigned i = 0; f->n_stacks && i < f->stacks[0].n_frames; i++)
			if (matches_frame(s, &f->stacks[0].frames[i]))
				return true;
	}
	return false;
}
