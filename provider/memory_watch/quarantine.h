/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Freed memory that a peer may write to, because its region is registered still: its end is put
 * off, so that the allocator gives it to nobody, and what is written there by then is told. No
 * process but the peer's knows of the WRITE itself.
 */
#ifndef UHCAV_MEMORY_QUARANTINE_H
#define UHCAV_MEMORY_QUARANTINE_H

#include "provider/diagnostic/diagnostic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * [p, p + size) is freed by this stack. True: it is kept, and "end" frees it later, when its region
 * is gone or too much is kept.
 */
bool uhcav_quarantine_take(void *p, size_t size, const struct uhcav_stack *stack,
			   void (*end)(void *p));

/* Looks at one of them in turn. Cheap where there is none. */
void uhcav_quarantine_look(void);

/* The region is gone (NULL: the process ends): what was kept for it is looked at and freed. */
void uhcav_quarantine_end(const void *mr);

/* Held across a fork. */
extern pthread_mutex_t uhcav_quarantine_lock;

#endif
