/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for uhcactl: what the core's objects and the shell's own know of themselves, as JSON
 * (ctl.h tells the form).
 */
#ifndef IO_CTL_TABLE_H
#define IO_CTL_TABLE_H

#include <jansson.h>

struct io_house;

/* The table of "device", "client", "pd", ...; NULL when there is no such thing, or no memory. */
json_t *io_ctl_table(const struct io_house *h, const char *what);

/* Counters of the core and of the boxes, a row for each device. */
json_t *io_ctl_counters(const struct io_house *h);

#endif
