/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena: one memory file of this process, sparse and of fixed size, whose pages stand in for
 * those of registered memory. The kernel's list of mappings tells which address has which page of
 * it; here stands which pieces are in use. A piece is given back, and its memory to the system,
 * when no region is in it and no mapping of it is left.
 *
 * Under the lock of pinning.c.
 */
#ifndef UHCAV_ARENA_H
#define UHCAV_ARENA_H

#include "maps.h"

#include <stdbool.h>
#include <stdint.h>

/* The descriptor of the file, made when first asked for; -errno. */
int uhcav_arena_fd(void);

/* Bytes of the file. */
uint64_t uhcav_arena_size(void);

/* Is this a mapping of the arena? Any thread, without the lock. */
bool uhcav_arena_has(const struct uhcav_mapping *m);

/* Has anything of it ever been mapped by the program? Any thread, without the lock. */
bool uhcav_arena_is_used(void);

/*
 * A piece of so many bytes (whole pages) that one region uses and that is to be mapped at this
 * address. It may still have what an earlier one had: pages that are there need not be made, and
 * the program's own are copied over them. What else is neither used nor mapped goes back to the
 * system. 0, -ENOMEM, -ENOSPC.
 */
int uhcav_arena_take(uintptr_t at, uint64_t length, uint64_t *offset);

/*
 * All pages of this part are in the file from now on, where they are not yet: a program pays for
 * its memory, and the daemon does not bring what is missing. there: they are known to be. False:
 * there is no memory, or there may be no file so long.
 */
bool uhcav_arena_bring(uint64_t offset, uint64_t length, bool there);

/* One region more, or one less, in the pieces that have a part of this. */
void uhcav_arena_hold(uint64_t offset, uint64_t length);
void uhcav_arena_release(uint64_t offset, uint64_t length);

/*
 * Gives back what is neither used by a region nor mapped. What is less than a MiB together may wait
 * for more.
 */
void uhcav_arena_sweep(void);

/* A fork's child, once it has copies of its own: this arena is the parent's. */
void uhcav_arena_forget(void);

#endif
