/* SPDX-License-Identifier: BSD-2-Clause */
/* The one lock of this wing: over the arena and all that is replaced. Inside of no other. */
#ifndef UHCAV_ADOPT_LOCK_H
#define UHCAV_ADOPT_LOCK_H

void uhcav_adoption_lock(void);
void uhcav_adoption_unlock(void);

#endif
