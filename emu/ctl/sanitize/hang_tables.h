/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon's tables (uhcactl show) for hangs: queue pairs, clients, devices, ids of rdma_cm. */
#ifndef HANG_TABLES_H
#define HANG_TABLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct hang_tables {
	json_t *qps, *clients, *devices, *ids;
};

/* Asks the daemon of the instance that a line names. False: it does not answer. */
bool hang_ask_daemon(struct hang_tables *t, const json_t *line);
void hang_drop_tables(struct hang_tables *t);

/* CTL_NO_ROW: there is none. */
size_t table_row_of_qp(const struct hang_tables *t, const char *device, json_int_t qpn);

/* The program of a process that has a device open, or "a program". */
const char *table_program_of(const struct hang_tables *t, json_int_t pid);

/* The device of the daemon that has the address; NULL: it is elsewhere. */
const char *table_device_at(const struct hang_tables *t, const char *address);

#endif
