/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a rule as words, and what is said of a word that is wrong: its column and, where one
 * of the right words is near, that one.
 */
#ifndef FAULT_RULE_TEXT_H
#define FAULT_RULE_TEXT_H

#include "emu/words/words.h"
#include "rule.h"

/* Some of the text; not terminated. */
struct fault_piece {
	const char *at;
	size_t length;
};

struct fault_text {
	const char *line;
	size_t length;
	struct fault_error *error;
};

/* NAME, NAME=VALUE, NAME>=VALUE ... */
struct fault_token {
	struct fault_piece whole, name, value; /* value without its quotes */
	char compare[3];                       /* "=", ">=" ...; "" when there is no value */
};

/* Fills in the error for the word at "at" and returns -EINVAL. */
int fault_fail(const struct fault_text *t, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of a piece that is no such value: "'PIECE' is WHAT". */
int fault_is(const struct fault_text *t, struct fault_piece p, const char *what);

/* The next word from *at on, which moves behind it: 1, 0 (no more) or -EINVAL. */
int fault_token_next(const struct fault_text *t, const char **at, struct fault_token *out);

/* Takes off the piece what stands before the first "separator" (all of it when there is none). */
struct fault_piece fault_piece_cut(struct fault_piece *p, char separator);

bool fault_piece_is(struct fault_piece p, const char *word);       /* without regard to case */
bool fault_piece_begins(struct fault_piece p, const char *prefix); /* likewise */

/* Copies it with a NUL; false: it does not fit. */
bool fault_piece_copy(struct fault_piece p, char *to, size_t cap);

/* The name most like the piece; NULL when none is near. */
static inline const char *fault_nearest(struct fault_piece p, words_names names, const void *table)
{
	return words_nearest(p.at, p.length, names, table);
}

/* Does the glob (with * and ?) match the whole word? Without regard to case. */
bool fault_glob(struct fault_piece glob, const char *word);
/* The same for any of the globs of a list with commas. */
bool fault_glob_any(const char *globs, const char *word);

#endif
