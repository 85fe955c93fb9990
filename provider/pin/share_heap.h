/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is the arena's from its birth (uhca-run --share-heap): what posix_memalign(3),
 * aligned_alloc(3), memalign(3) and mmap(2) give the program, where it is large. Nobody else knows
 * the address yet, so that pages are replaced without stopping anybody, also where threads cannot
 * be stopped (replace.h). Registered later, it is the device's as pinned memory is. We stand in
 * the slots by which the program and its libraries call these (base/got.h).
 *
 * Allocators call mmap, at any time: nothing here allocates, or waits for a lock for ever.
 */
#ifndef UHCAV_SHARE_HEAP_H
#define UHCAV_SHARE_HEAP_H

/*
 * If it is asked for ($UHCA_SHARE_HEAP), the calls of all that is loaded are heard from now on;
 * again for what was loaded since. A program that has forked shares no more: each child copies what
 * is shared (fork_copy.h).
 */
void uhcav_share_heap_listen(void);

#endif
