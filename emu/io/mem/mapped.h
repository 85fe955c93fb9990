/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies to and from memory that this process has mapped, too: device memory, and what a program
 * shares with us (spans of CORE_SPACE_DEVICE). No call of the system, so that lists of many small
 * pieces cost what their memory costs.
 *
 * What a program that polls such memory sees is what mem.h promises for its other memory: stores of
 * up to 8 bytes whole, if they are aligned, and the last bytes of a longer write after all others.
 */
#ifndef IO_MAPPED_H
#define IO_MAPPED_H

#include "emu/core/core.h"

#include <stdbool.h>
#include <stddef.h>

/* Are these all such spans? */
bool io_mapped_all(const struct core_span *spans, unsigned n);

/* Gathers the spans to "to". */
void io_mapped_read(const struct core_span *from, unsigned n, void *to);

/* Scatters the iovecs over the spans; both lists have the same total. */
void io_mapped_write(const struct core_span *to, unsigned n, const struct iovec *from);

/* The same of a row: pieces that lie one stride apart. */
void io_mapped_read_row(const struct core_row *from, void *to);
void io_mapped_write_row(const struct core_row *to, const struct iovec *from);

/* One piece of a write; up to 8 bytes become visible in ascending order, after all before them. */
void io_mapped_store(void *to, const void *from, size_t length);

#endif
