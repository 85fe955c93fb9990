/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages about an unknown word of a user: the word, the nearest known word, and all known words.
 * All programs that read words use them.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_HINT_MAX 72 /* bytes of words_hint with its NUL */

/* Name number i, NULL behind the last; table is whatever the names are taken from. */
typedef const char *(*words_names)(const void *table, unsigned i);

/* words_names of an array of texts that ends with NULL. */
const char *words_at(const void *table, unsigned i);

/* A table whose rows begin with their names. */
struct words_rows {
	const void *row;
	size_t size;
	unsigned n;
};
#define WORDS_ROWS(array)                                                                          \
	(&(const struct words_rows){(array), sizeof((array)[0]),                                   \
				    sizeof(array) / sizeof((array)[0])})

/* words_names of such rows. */
const char *words_row_at(const void *rows, unsigned i);

/* The row of this name, letter by letter; NULL: there is none, or no name. */
const void *words_row(const struct words_rows *rows, const char *name);

/* Behind a noun of which there are n. */
static inline const char *words_plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}

/* Is the word one of the names, letter by letter? */
bool words_has(const char *word, words_names names, const void *table);

/*
 * The name most like the length bytes at "at", whatever their case: a few letters wrong, left out,
 * added or swapped; or the one that begins with them. NULL when none is near.
 */
const char *words_nearest(const char *at, size_t length, words_names names, const void *table);

/* ": did you mean 'X'?", or "" for NULL; in buf. Returns buf. */
const char *words_hint(const char *nearest, char *buf, size_t cap);

/*
 * "unknown WHAT 'WORD': did you mean 'X'? Known: A, B and C", cut where buf is full. Returns
 * buf.
 */
const char *words_refuse(char *buf, size_t cap, const char *what, const char *word,
			 words_names names, const void *table);

#endif
