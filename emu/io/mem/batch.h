/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one call of the system moves: a list of local and one of remote pieces of equal total.
 */
#ifndef IO_BATCH_H
#define IO_BATCH_H

#include "mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_BATCH_LOCAL  96
#define IO_BATCH_REMOTE 64
#define IO_BATCH_STORE  8 /* bytes that are stored in one go */

/* One batch between our memory and that of one space. */
struct io_batch {
	bool write; /* into the client */
	unsigned n_local;
	unsigned n_remote;
	struct iovec local[IO_BATCH_LOCAL + 1]; /* one more: the tail */
	struct iovec remote[IO_BATCH_REMOTE + 1];
};

/* A batch of nothing; the lists stay as they are: clearing them costs more than a short read. */
static inline void io_batch_begin(struct io_batch *b, bool write)
{
	b->write = write;
	b->n_local = b->n_remote = 0;
}

/*
 * Bytes of a write of length bytes to addr that are to become visible last: from the last multiple
 * of 8 before its end.
 */
static inline size_t io_batch_tail(uint64_t addr, size_t length)
{
	size_t tail = (addr + length) % IO_BATCH_STORE;

	if (tail == 0)
		tail = IO_BATCH_STORE;
	return tail < length ? tail : length;
}

/* A walk over a list of pieces. */
struct io_cursor {
	const struct iovec *iov;
	const struct iovec *end;
	size_t skip; /* bytes of *iov that are done */
};

/* Takes up to "want" bytes in up to "max" pieces; *n pieces, returns their bytes. */
size_t io_cursor_take(struct io_cursor *c, size_t want, struct iovec *out, unsigned max,
		      unsigned *n);

/* By whatever way there is: 0, -EFAULT, or -ESRCH (io_mem_write). */
int io_batch_move(struct io_mem *m, const struct io_batch *b);

#endif
