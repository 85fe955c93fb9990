/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write combining: short writes to a client's memory, which is not mapped here, wait for each other
 * and leave in one call of the system, in their order. Nobody sees that they wait: they are in
 * memory before anything else is read or written there, a completion enters its CQ, a packet
 * leaves, a program is told or answered anything, and before the daemon sleeps (io_mem_settle).
 *
 * Only to a page that a write has reached since the last io_mem_settle. So none of them fails, but
 * where the program has taken the page away since: the bytes are gone then, as an adapter's would
 * be, which stores into a page that nobody sees any more.
 */
#ifndef IO_COMBINE_H
#define IO_COMBINE_H

#include "emu/core/core.h"
#include "mem.h"

#include <stdbool.h>
#include <sys/uio.h>

/* Is a write there one of those? */
bool io_combine_fits(const struct io_mem *m, const struct core_span *to);

/* Puts aside a write that fits; false: no write has reached the page yet. */
bool io_combine_take(struct io_mem *m, const struct core_span *to, const struct iovec *from,
		     unsigned n_from);

/* A write that fits has reached the page; nothing waits. */
void io_combine_reached(struct io_mem *m, const struct core_span *to);

/* What waits is in memory when it returns. */
void io_combine_flush(void);

/* The memory goes, and what waits for it. */
void io_combine_drop(const struct io_mem *m);

#endif
