/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small pieces that stand close together, a column of a matrix for example, read with what lies
 * between them: to copy that costs less than to have another piece in a call of the system. No page
 * is touched that has no byte of a piece.
 */
#ifndef IO_STRETCH_H
#define IO_STRETCH_H

#include "emu/core/core.h"

#include <stdbool.h>
#include <stddef.h>

#define IO_STRETCH_STEP  1024u  /* from the end of a piece to that of the next, at most */
#define IO_STRETCH_BYTES 65536u /* that are read at once */

/* Several pieces that are one stretch of the client's memory. */
struct io_stretch {
	uint64_t addr;
	size_t length;
	unsigned n; /* pieces */
};

/* Are all pieces small, in the client's memory, and most of them close to the one before? */
bool io_stretch_pays(const struct core_span *from, unsigned n);

/* The stretch that begins with the first of the n > 0 pieces; one of at most IO_STRETCH_BYTES. */
struct io_stretch io_stretch_next(const struct core_span *from, unsigned n);

/* Copies the pieces of a stretch, which was read to "bytes", behind each other; returns the end. */
uint8_t *io_stretch_pick(const struct io_stretch *s, const struct core_span *from,
			 const uint8_t *bytes, uint8_t *to);

#endif
