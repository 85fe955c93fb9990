/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for uhcactl: what the core's objects and the shell's own know of themselves, as JSON
 * (ctl.h tells the form).
 */
#ifndef IO_CTL_TABLE_H
#define IO_CTL_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct io_services;

struct io_ctl_table;

/*
 * The table of "device", "client", "pd", ..., of which parts are added until there are no more (a
 * part is some microseconds of work); NULL when there is no such thing, or no memory. The services
 * outlives it.
 */
struct io_ctl_table *io_ctl_table_begin(const struct io_services *h, const char *what);
bool io_ctl_table_add(struct io_ctl_table *t);

/*
 * All rows as text, once (ctl_rows_end); NULL without memory. May be called by another thread, as
 * the next.
 */
char *io_ctl_table_end(struct io_ctl_table *t, const char *before, const char *after,
		       size_t *length);
void io_ctl_table_free(struct io_ctl_table *t);

/* The names of all tables, as words_names has it; table is not used. */
const char *io_ctl_table_at(const void *table, unsigned i);

/* Counters of the core and of the boxes, a row for each device. */
json_t *io_ctl_counters(const struct io_services *h);

#endif
