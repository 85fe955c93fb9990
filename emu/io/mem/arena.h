/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena of a client: a memory file of its process in which memory stands that the process
 * registered and that was pinned (design D14). The process maps pieces of it where its own pages
 * were; here windows of it are mapped, each when a region first reaches into it. The file may be
 * much longer than the memory there is: what is mapped is bounded (cmd_memory.c), so that many of
 * them do not take all of the daemon's addresses.
 *
 * Its pages are the process's to bring: arena_watch.h.
 */
#ifndef IO_ARENA_H
#define IO_ARENA_H

#include "emu/core/core.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct io_arena {
	bool open;
	int fd;          /* the file; owned */
	uint64_t mapped; /* bytes of all windows */
	bool lost;       /* a page was missing (arena_watch.h) */
	struct core_arena core;
	LIST_ENTRY(io_arena) link;
};

/*
 * Takes a descriptor of its own; fd stays the caller's. Nothing is mapped yet. 0; -EINVAL when it
 * is no memory file, could shrink under us, is shorter than size, or size is 0 or above
 * UHCA_ABI_MAX_ARENA; -EMFILE.
 */
int io_arena_open(struct io_arena *a, int fd, uint64_t size);
void io_arena_close(struct io_arena *a);

/* Bytes that are to be mapped for [offset, offset + length), which must lie in the arena. */
uint64_t io_arena_missing(const struct io_arena *a, uint64_t offset, uint64_t length);

/* Maps them. 0; -ENOSPC when the system has no room. */
int io_arena_reach(struct io_arena *a, uint64_t offset, uint64_t length);

/*
 * Bytes that all arenas may map together: a quarter of the addresses of a process, or of what
 * setrlimit(2) leaves (RLIMIT_AS).
 */
uint64_t io_arenas_most(void);

/* Bytes that are mapped of all arenas. */
uint64_t io_arenas_mapped(void);

#endif
