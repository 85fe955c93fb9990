/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the life of objects: what is left when the process ends, what holds what. */
#ifndef UHCAV_LIFETIME_H
#define UHCAV_LIFETIME_H

#include "object.h"

/* An object that was not destroyed (EBUSY): says which others stand on it. */
void uhcav_lifetime_busy(struct uhcav_here here, const struct uhcav_object *o);

/* One that is gone; if it was said to be left, that is taken back. */
void uhcav_lifetime_ended(const struct uhcav_object *o);

/* Once, when the provider is set up: looks at what is left when the process ends with status 0. */
void uhcav_lifetime_watch_exit(void);

#endif
