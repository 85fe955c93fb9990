/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of the life of objects: what is left when the process ends, what holds what, and which
 * threads use them.
 */
#ifndef UHCAV_LIFETIME_H
#define UHCAV_LIFETIME_H

#include "object.h"
#include "provider/base/base.h"

/* An object that was not destroyed (EBUSY): says which others stand on it. */
void uhcav_lifetime_busy(struct uhcav_here here, const struct uhcav_object *o);

/* One that is gone; if it was said to be left, that is taken back. */
void uhcav_lifetime_ended(const struct uhcav_object *o);

/*
 * A call on an object begins, which is for one thread at a time if "single": is another one in
 * there? "stack" is the call's; NULL where it is to be taken only then.
 */
void uhcav_lifetime_enter(struct uhcav_inside *i, const void *self, bool single,
			  struct uhcav_here here, const struct uhcav_stack *stack);

/* Its destruction does: is another thread in there? */
void uhcav_lifetime_ending(const struct uhcav_inside *i, const void *self, struct uhcav_here here);

/* Once, when the provider is set up: looks at what is left when the process ends with status 0. */
void uhcav_lifetime_watch_exit(void);

#endif
