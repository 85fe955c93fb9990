/* SPDX-License-Identifier: BSD-2-Clause */
/* The one lock of this module: over the arena and all that is replaced. Inside of no other. */
#ifndef UHCAV_PIN_LOCK_H
#define UHCAV_PIN_LOCK_H

#include <stdbool.h>

void uhcav_pinning_lock(void);
void uhcav_pinning_unlock(void);

/*
 * False: somebody has it for long. For who may be inside of an allocator, whose locks the other one
 * may be waiting for.
 */
bool uhcav_pinning_lock_soon(void);

#endif
