/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the word nearest to an unknown one, and lists all words. */
#include "words.h"

#include <stdio.h>
#include <string.h>

/* Longer words are never near. */
#define NEAR_MAX  40
/* With fewer letters the beginning of a word says too little. */
#define BEGIN_MIN 3

const char *words_at(const void *table, unsigned i)
{
	return ((const char *const *)table)[i];
}

const char *words_row_at(const void *rows, unsigned i)
{
	const struct words_rows *r = rows;

	return i < r->n ? *(const char *const *)(const void *)((const char *)r->row + i * r->size)
			: NULL;
}

const void *words_row(const struct words_rows *rows, const char *name)
{
	for (unsigned i = 0; name && i < rows->n; i++)
		if (strcmp(words_row_at(rows, i), name) == 0)
			return (const char *)rows->row + i * rows->size;
	return NULL;
}

bool words_has(const char *word, words_names names, const void *table)
{
	const char *name;

	for (unsigned i = 0; (name = names(table, i)) != NULL; i++)
		if (strcmp(name, word) == 0)
			return true;
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many characters must be added, taken away, changed, or swapped with their neighbour. */
static unsigned distance(const char *at, size_t length, const char *word)
{
	unsigned row[3][NEAR_MAX + 1];
	const unsigned n = (unsigned)strlen(word);

	for (unsigned j = 0; j <= n; j++)
		row[0][j] = j;
	for (unsigned i = 1; i <= length; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			const char a = lower(at[i - 1]), b = lower(word[j - 1]);

			now[j] = least(before[j - 1] + (a != b), least(before[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a == lower(word[j - 2]) && b == lower(at[i - 2]))
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	}
	return row[length % 3][n];
}

static bool begins(const char *word, const char *at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (lower(word[i]) != lower(at[i]))
			return false;
	return true;
}

const char *words_nearest(const char *at, size_t length, words_names names, const void *table)
{
	const unsigned limit = length <= 3 ? 1 : length <= 7 ? 2 : 3;
	const char *best = NULL, *begun = NULL;
	unsigned best_distance = limit + 1;
	const char *name;

	if (length > NEAR_MAX)
		return NULL;
	for (unsigned i = 0; (name = names(table, i)) != NULL; i++) {
		unsigned d;

		if (strlen(name) > NEAR_MAX)
			continue;
		if (!begun && length >= BEGIN_MIN && begins(name, at, length))
			begun = name;
		d = distance(at, length, name);
		if (d < best_distance && d < length) {
			best = name;
			best_distance = d;
		}
	}
	return best && (best_distance == 1 || !begun) ? best : begun;
}

const char *words_hint(const char *nearest, char *buf, size_t cap)
{
	buf[0] = '\0';
	if (nearest)
		snprintf(buf, cap, ": did you mean '%s'?", nearest);
	return buf;
}

const char *words_refuse(char *buf, size_t cap, const char *what, const char *word,
			 words_names names, const void *table)
{
	const char *nearest = words_nearest(word, strlen(word), names, table), *name;
	char hint[WORDS_HINT_MAX];
	size_t n = (size_t)snprintf(buf, cap, "unknown %s '%s'%s", what, word,
				    words_hint(nearest, hint, sizeof(hint)));

	for (unsigned i = 0; n < cap && (name = names(table, i)) != NULL; i++) {
		if (i == 0)
			n += (size_t)snprintf(buf + n, cap - n, "%s ",
					      nearest ? " Known:" : "; known:");
		else
			n += (size_t)snprintf(buf + n, cap - n, ", ");
		if (n < cap)
			n += (size_t)snprintf(buf + n, cap - n, "%s", name);
	}
	return buf;
}
