/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the text of a rule into words, and formats errors with their column. */
#include "rule_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COMPARE_CHARS "=<>!"

int fault_fail(const struct fault_text *t, const char *at, const char *format, ...)
{
	va_list args;

	t->error->column = (unsigned)(at - t->line) + 1;
	va_start(args, format);
	vsnprintf(t->error->text, sizeof(t->error->text), format, args);
	va_end(args);
	return -EINVAL;
}

int fault_is(const struct fault_text *t, struct fault_piece p, const char *what)
{
	return fault_fail(t, p.at, "'%.*s' is %s", (int)p.length, p.at, what);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What stands before the first of =, <, >, ! is the name, behind it comes the value. */
static int split(const struct fault_text *t, struct fault_token *out)
{
	const char *at = out->whole.at, *end = at + out->whole.length;
	unsigned n = 0;

	while (at < end && !strchr(COMPARE_CHARS, *at))
		at++;
	out->name = (struct fault_piece){out->whole.at, (size_t)(at - out->whole.at)};
	while (at < end && n < 2 && strchr(COMPARE_CHARS, *at) && !(n == 1 && *at != '='))
		out->compare[n++] = *at++;
	out->compare[n] = '\0';
	out->value = (struct fault_piece){at, (size_t)(end - at)};
	if (n == 0)
		return 0;
	if (strcmp(out->compare, "!") == 0 || strcmp(out->compare, "==") == 0)
		return fault_fail(t, out->whole.at,
				  "'%s' compares nothing: =, !=, <, <=, >, >=", out->compare);
	if (out->value.length >= 2 && out->value.at[0] == '"') {
		out->value.at++;
		out->value.length -= 2;
	}
	if (out->name.length == 0)
		return fault_fail(t, out->whole.at, "a word is missing before '%s'", out->compare);
	if (out->value.length == 0)
		return fault_fail(t, out->whole.at, "a value is missing after '%s'", out->compare);
	return 0;
}

int fault_token_next(const struct fault_text *t, const char **at, struct fault_token *out)
{
	const char *end = t->line + t->length;
	const char *p = *at;
	const char *quote = NULL;

	while (p < end && is_space(*p))
		p++;
	if (p == end)
		return 0;
	out->whole.at = p;
	for (; p < end && (quote || !is_space(*p)); p++) {
		if (*p == '"' && quote) {
			quote = NULL;
			if (p + 1 < end && !is_space(p[1]))
				return fault_fail(t, p + 1, "a space is missing after the quote");
		} else if (*p == '"') {
			if (p == out->whole.at || !strchr(COMPARE_CHARS, p[-1]))
				return fault_fail(t, p, "quotes must enclose a whole value");
			quote = p;
		}
	}
	if (quote)
		return fault_fail(t, quote, "the closing quote is missing");
	out->whole.length = (size_t)(p - out->whole.at);
	*at = p;
	return split(t, out) ? -EINVAL : 1;
}

struct fault_piece fault_piece_cut(struct fault_piece *p, char separator)
{
	const char *found = p->length ? memchr(p->at, separator, p->length) : NULL;
	const size_t length = found ? (size_t)(found - p->at) : p->length;
	const struct fault_piece head = {p->at, length};

	p->at += length + (found ? 1 : 0);
	p->length -= length + (found ? 1 : 0);
	return head;
}

bool fault_piece_begins(struct fault_piece p, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (p.length < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(p.at[i]) != lower(prefix[i]))
			return false;
	return true;
}

bool fault_piece_is(struct fault_piece p, const char *word)
{
	return p.length == strlen(word) && fault_piece_begins(p, word);
}

bool fault_piece_copy(struct fault_piece p, char *to, size_t cap)
{
	if (p.length >= cap)
		return false;
	memcpy(to, p.at, p.length);
	to[p.length] = '\0';
	return true;
}

bool fault_glob(struct fault_piece glob, const char *word)
{
	const char *g = glob.at, *end = g + glob.length;
	const char *star = NULL, *again = NULL;

	while (*word) {
		if (g < end && *g == '*') {
			star = g++;
			again = word;
		} else if (g < end && (*g == '?' || lower(*g) == lower(*word))) {
			g++;
			word++;
		} else if (star) { /* the last star takes one more */
			g = star + 1;
			word = ++again;
		} else {
			return false;
		}
	}
	while (g < end && *g == '*')
		g++;
	return g == end;
}

bool fault_glob_any(const char *globs, const char *word)
{
	struct fault_piece rest = {globs, strlen(globs)};

	while (rest.length)
		if (fault_glob(fault_piece_cut(&rest, ','), word))
			return true;
	return false;
}
