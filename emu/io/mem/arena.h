/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena of a client: a memory file of its process, mapped once, in which memory stands that the
 * process registered and that was adopted (DESIGN D14). The process maps pieces of it where its own
 * pages were.
 */
#ifndef IO_ARENA_H
#define IO_ARENA_H

#include <stdint.h>

struct io_arena {
	void *base; /* NULL: there is none */
	uint64_t size;
};

/*
 * Maps size bytes of the file; fd stays the caller's. 0; -EINVAL when it is no memory file, could
 * shrink under us, is shorter than size, or size is 0 or above UHCA_ABI_MAX_ARENA; -ENOMEM.
 */
int io_arena_open(struct io_arena *a, int fd, uint64_t size);
void io_arena_close(struct io_arena *a);

#endif
