/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page asked the daemon to do, and the statements of a scenario by which the same comes
 * about again. The page writes each statement, for it knows which packet was meant.
 */
#ifndef SERVE_ACTS_H
#define SERVE_ACTS_H

#include "source.h"

#include <stdio.h>

#define ACTS_MAX     500
#define ACT_TEXT_MAX 1024

struct acts {
	char *line[ACTS_MAX]; /* owned */
	unsigned n;
};

/* May a page ask for this? NULL, or why not. */
const char *acts_refuse(const json_t *request, bool read_only);

/*
 * Keeps a statement; one that begins with the same name ("fault NAME:") is replaced, and "forget
 * NAME" takes it away. NULL, or why it cannot be one.
 */
const char *acts_note(struct acts *a, const char *statement);

/* The scenario: programs, statements, and what the model has of failures as expectations. */
void acts_print(FILE *out, const struct acts *a, const struct serve_source *s, const char *command);

void acts_end(struct acts *a);

#endif
