/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of the use of destroyed objects (check object-gone). */
#ifndef UHCAV_GONE_TOLD_H
#define UHCAV_GONE_TOLD_H

#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A call ("ibv_post_send") by "here" on a destroyed object, or on one whose context was closed.
 * Tells of it.
 */
void uhcav_told_call(struct uhcav_here here, const char *call, const void *object);

/* The same of an object that a call names; false: it lives, or is none. */
bool uhcav_told_argument(struct uhcav_here here, const char *call, const void *object);

/*
 * In the place of functions that objects carry: they are called with the object, tell, and return
 * EINVAL. The last one does not tell: another one has.
 */
uintptr_t uhcav_told_poll(const void *cq);
uintptr_t uhcav_told_post(const void *queue);
uintptr_t uhcav_told_copy(const void *dm);
uintptr_t uhcav_told_before(const void *object);

#endif
