/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a device and its boxes have counted, as a list of names and numbers: for uhcactl and for
 * captures.
 */
#ifndef IO_COUNTS_H
#define IO_COUNTS_H

#include <stdint.h>

struct io_device;
struct io_udp;

#define IO_COUNTS 64 /* room */

struct io_count {
	const char *prefix; /* the name is prefix and name together; static texts */
	const char *name;
	uint64_t value;
};

/* Returns how many there are: always the same, in the same order. */
unsigned io_counts(const struct io_device *dev, struct io_count out[IO_COUNTS]);

/* What went over its wire; zeroes where there is none. */
const struct io_udp *io_counts_udp(const struct io_device *dev);

#endif
