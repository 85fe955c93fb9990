/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a device and its boxes have counted, as a list of names and numbers: for uhcactl and for
 * captures.
 */
#ifndef IO_COUNTS_H
#define IO_COUNTS_H

#include <stdint.h>

struct io_port;

#define IO_COUNTS 64 /* room */

struct io_count {
	const char *prefix; /* the name is prefix and name together; static texts */
	const char *name;
	uint64_t value;
};

/* Returns how many there are: always the same, in the same order. */
unsigned io_counts(const struct io_port *p, struct io_count out[IO_COUNTS]);

#endif
