/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a table while it is made, as text: thousands of JSON values would have to be freed
 * again. Rows may have different facts (a datagram QP has no peer): the columns are all names that
 * occurred, in the order in which they did, and a row has null where it lacks one.
 */
#ifndef IO_CTL_ROWS_H
#define IO_CTL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTL_COLUMNS 96 /* at most; further ones are left out */

struct ctl_cell {
	bool is_text;
	uint64_t number; /* of a text: where in "texts" */
};

struct ctl_column {
	char name[32];
	bool hex;
};

struct ctl_chunk;

struct ctl_rows {
	unsigned n;
	struct ctl_column column[CTL_COLUMNS];
	struct ctl_chunk *first, *last; /* what is made */
	bool failed;                    /* there was no memory */
	/* The row that is being made. */
	bool begun, has[CTL_COLUMNS];
	struct ctl_cell cell[CTL_COLUMNS];
	char texts[8192];
	size_t used;
};

/* A row begins; the one before is done. */
void ctl_rows_start(struct ctl_rows *r);

/* One value of it, of the column with this name. */
void ctl_rows_number(struct ctl_rows *r, const char *name, uint64_t number);
void ctl_rows_hex(struct ctl_rows *r, const char *name, uint64_t number);

/* text NULL: the column is there, though the row lacks it. */
void ctl_rows_text(struct ctl_rows *r, const char *name, const char *text);

/*
 * All of it as the JSON of a table (emu/abi/ctl.h), between two texts; to be freed, as the rows
 * still are. NULL: no memory. Any thread.
 */
char *ctl_rows_end(struct ctl_rows *r, const char *before, const char *after, size_t *length);
void ctl_rows_free(struct ctl_rows *r);

#endif
