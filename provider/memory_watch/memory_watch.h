/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "memory_watch": registered memory that is no longer the same, and memory that was freed
 * while somebody names it still (uhca-run --sanitize). An adapter keeps the pages that it was
 * given; the program's calls give its addresses other ones:
 *
 *   ranges.c      the registered ranges, and what has happened to them
 *   mappings.c    munmap, mmap, mremap, madvise, malloc_trim
 *   heap.c        free and its kin
 *   frees.c       what was freed that a wr_id points to
 *   quarantine.c   what was freed that a peer may write to
 *   report.c    what is said of it
 *
 * The calls are heard in the slots by which the program and its libraries make them (base/got.h).
 * They may come at any time, in the midst of an allocator: then nothing is told and little
 * allocated; it is told when a verb is called.
 *
 * Who may call: sanitize. It calls base, diagnostic, gone and pin.
 */
#ifndef UHCAV_MEMORY_WATCH_H
#define UHCAV_MEMORY_WATCH_H

#include "frees.h"
#include "quarantine.h"
#include "ranges.h"
#include "report.h"

#include <pthread.h>

/* Hears the calls from now on, also of what was loaded since. Any thread. */
void uhcav_memory_watch_listen(void);

/* Held across a fork. */
extern pthread_mutex_t uhcav_memory_watch_lock;

#endif
