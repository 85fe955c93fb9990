/* SPDX-License-Identifier: BSD-2-Clause */
/* The one lock of this wing: over the arena and all that is replaced. Inside of no other. */
#ifndef UHCAV_ADOPT_LOCK_H
#define UHCAV_ADOPT_LOCK_H

#include <stdbool.h>

void uhcav_adoption_lock(void);
void uhcav_adoption_unlock(void);

/*
 * False: somebody has it for long. For who may be inside of an allocator, whose locks the other one
 * may be waiting for.
 */
bool uhcav_adoption_lock_soon(void);

#endif
