/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of the daemon (emu/abi/ctl.h, "show"), asked for at its control socket. */
#ifndef UHCA_NLDEV_TABLE_H
#define UHCA_NLDEV_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define UHCA_TABLE_COLUMNS 64u

struct uhca_table {
	char *text; /* the reply, which all cells point into */
	unsigned n_columns, n_rows;
	const char *column[UHCA_TABLE_COLUMNS];
	char **cell; /* row by row; NULL: the object has no such fact */
};

/*
 * Asks the instance at root for the table of "what" ("qp"). False: it does not answer, or says
 * what is no table. uhca_table_free in either case.
 */
bool uhca_table_ask(struct uhca_table *t, const char *root, const char *what);

/* The same of a reply (one line, which is changed; the table frees it). */
bool uhca_table_parse(struct uhca_table *t, char *reply);
void uhca_table_free(struct uhca_table *t);

/* "" and 0 where there is none. */
const char *uhca_table_text(const struct uhca_table *t, unsigned row, const char *column);
uint64_t uhca_table_number(const struct uhca_table *t, unsigned row, const char *column);

#endif
