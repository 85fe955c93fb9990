/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the keys that requests name. */
#ifndef UHCAV_SANITIZE_KEYS_H
#define UHCAV_SANITIZE_KEYS_H

#include "shadow.h"

/*
 * An element of a request that is about to be posted: is its key good for it? Returns where it is
 * in the process; 0: nowhere, or it is not known.
 */
uint64_t uhcav_keys_look(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 const struct ibv_sge *e);

/* A region that was deregistered by "here": does an outstanding request name it? */
void uhcav_keys_gone(struct uhcav_here here, const struct uhcav_object *mr);

#endif
