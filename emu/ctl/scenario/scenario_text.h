/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a scenario file as words: what its statements (scenario_parse.c) and its conditions
 * (scenario_expect.c) are read with. Part of scenario.h. What returns int returns 0, or -EINVAL
 * with the error filled in.
 */
#ifndef CTL_SCENARIO_TEXT_H
#define CTL_SCENARIO_TEXT_H

#include "emu/words/words.h"
#include "scenario.h"

/* The line at hand. */
struct scenario_cursor {
	struct scenario *s;
	struct scenario_error *error;
	char *line; /* its first byte */
	char *at;   /* what is not read yet */
	unsigned number;
	struct scenario_step step;
};

/* Fills in the error, at the byte "at" of the line, and returns -EINVAL. */
int scenario_refuse(struct scenario_cursor *c, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of a word that is no WHAT, with the nearest and all that there are (words_refuse). */
int scenario_no_such(struct scenario_cursor *c, const char *word, const char *what,
		     words_names names, const void *table);

/* The column of a byte of the text, from 1. */
unsigned scenario_column(const struct scenario_cursor *c, const char *at);

/* ---- words ---- */

void scenario_skip_space(struct scenario_cursor *c);

/* The next word, ended by a NUL in place; NULL at the end of the line. */
char *scenario_word(struct scenario_cursor *c);

/* What is left of the line; NULL when nothing is. */
char *scenario_rest(struct scenario_cursor *c);

int scenario_at_end(struct scenario_cursor *c);

/* A word, or a complaint that "what" is missing. */
int scenario_need(struct scenario_cursor *c, char **word, const char *what);

/* Is the next word this one? Then it is used up. */
bool scenario_accept(struct scenario_cursor *c, const char *word);

/* A time that is not 0. */
int scenario_take_time(struct scenario_cursor *c, uint64_t *out);
int scenario_take_number(struct scenario_cursor *c, uint64_t *out);

/*
 * "OP N", or "N" alone for "== N", of something that is never more than most. What can never be so
 * is refused; what always is, too, unless it may be anything.
 */
int scenario_take_relation(struct scenario_cursor *c, uint64_t most, bool may_be_any);

/* ---- names ---- */

bool scenario_is_name(const char *word);

/* To the step, with its column. what: "the name of a rule". */
int scenario_take_name(struct scenario_cursor *c, const char *what);

bool scenario_has_run(const struct scenario *s, const char *name);

/* A name that a statement above gave. */
int scenario_take_run(struct scenario_cursor *c);
int scenario_take_rule(struct scenario_cursor *c);

/* ---- scenario_expect.c ---- */

/* The condition of a wait or expect, of which "word" is the first word. */
int scenario_take_condition(struct scenario_cursor *c, char *word);

#endif
