/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing of the daemon's tables (ctl.h): aligned columns for people, a list of objects for
 * programs.
 */
#ifndef CTL_GRID_H
#define CTL_GRID_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Columns with their names above; numbers to the right, "-" for nothing. transposed: the rows
 * stand side by side, the first column's values above them.
 * False when the table is not one, or the output could not be written.
 */
bool ctl_table_print(FILE *out, const json_t *table, bool transposed);

/*
 * A JSON array with one object for each row; members that a row lacks are left out. NULL: it is no
 * table, or memory is short.
 */
json_t *ctl_table_objects(const json_t *table);

/* Any value, which is taken over (NULL: memory is short), and a line end, to standard output. */
bool ctl_print_json(json_t *value);

#endif
