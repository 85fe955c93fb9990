/* SPDX-License-Identifier: BSD-2-Clause */
/* The allocator's calls. */
#ifndef UHCAV_MEMORY_HEAP_H
#define UHCAV_MEMORY_HEAP_H

/* Under the lock of memory_watch.c. */
void uhcav_heap_listen(void);

#endif
