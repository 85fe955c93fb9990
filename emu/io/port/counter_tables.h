/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of counters in sysfs, and which number of this device each one is: those of Linux's
 * driver of the adapter that a machine or a profile describes, else this device's own. What the
 * device does not know stays 0.
 */
#ifndef IO_COUNTER_TABLES_H
#define IO_COUNTER_TABLES_H

#include <stddef.h>
#include <stdint.h>

struct core_counters;
struct device;
struct io_device;
struct io_udp;

enum io_counter_names {
	IO_COUNTERS_OWN,
	IO_COUNTERS_MLX5,
	IO_COUNTERS_BNXT,
	IO_COUNTERS_EFA,
	IO_COUNTERS_RXE,
	IO_COUNTERS_COUNT
};

/* What the numbers are made of. */
struct io_counter_source {
	const struct device *device;
	const struct core_counters *core;
	const struct io_udp *udp;
	uint64_t bad, no_route;
};

/* A name, and where its number is: in the core's counters, or one of those that are made here. */
struct io_counter {
	const char *name;
	size_t at; /* in struct core_counters */
	uint64_t (*make)(const struct io_counter_source *s);
};

/* By the driver that the machine's file names, or by the profile (its number). */
enum io_counter_names io_counter_names_for(const char *driver, unsigned profile);
enum io_counter_names io_counter_names_of(const struct io_device *dev);

/* Their table, *n long. */
const struct io_counter *io_counter_table(enum io_counter_names names, unsigned *n);

#endif
