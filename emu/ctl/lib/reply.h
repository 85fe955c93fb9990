/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short requests to the daemon, and what its replies (ctl.h) say: members of objects, cells of
 * tables. Nothing that is missing, or of another type, is an error here: it is "" or 0.
 */
#ifndef CTL_REPLY_H
#define CTL_REPLY_H

#include "connection.h"

#include <jansson.h>
#include <stddef.h>

#define CTL_NO_ROW ((size_t)-1)

/* {"cmd": command, "action": action}; the caller's, as the next one. NULL: no memory. */
json_t *ctl_command(const char *command, const char *action);
/* {"cmd": "show", "what": what}, which a table answers. */
json_t *ctl_command_show(const char *what);

/*
 * Appends what the daemon has of the trace of its rules to the array; *lost: so many lines it no
 * longer has. 0; or f->status, with the lines until then.
 */
int ctl_fetch_trace(const char *dir, json_t *lines, json_int_t *lost, struct ctl_failure *f);

/* A member of an object, which keeps the text. */
const char *ctl_text_in(const json_t *object, const char *member);
json_int_t ctl_number_in(const json_t *object, const char *member);

/* The place of a column, or -1; and the name of one, NULL behind the last. */
int ctl_column(const json_t *table, const char *name);
const char *ctl_column_name(const json_t *table, size_t column);

size_t ctl_rows(const json_t *table);
/* The first row that has the number in the column, or CTL_NO_ROW. */
size_t ctl_row_with(const json_t *table, const char *column, json_int_t number);

/* Appends the rows of another daemon's table, by the names of columns: an empty one has none. */
void ctl_append_rows(json_t *table, json_t *more);

/* A cell; NULL: there is none. The table keeps it, and its text. */
const json_t *ctl_cell(const json_t *table, size_t row, const char *column);
const char *ctl_cell_text(const json_t *table, size_t row, const char *column);
json_int_t ctl_cell_number(const json_t *table, size_t row, const char *column);

#endif
