/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking a key away by a work request: LOCAL_INV of the queue itself, SEND with Invalidate of its
 * peer (IBTA vol. 1, 10.6.7.2 and 9.4.1.1), or READ with Invalidate of the queue when its data has
 * come (RFC 5040, 3.1). Whose request it is makes no difference: the same keys may be named.
 */
#ifndef CORE_INVALIDATE_H
#define CORE_INVALIDATE_H

#include "mr.h"

/* Whether invalidate_key would take the key away now. */
bool invalidate_allowed(struct key_user user, uint32_t key);

/*
 * Invalidates the key on behalf of the queue. False, nothing changed, when it may not: no such key
 * or a stale key byte; an ordinary region, which is taken away by deregistration only; a described
 * key (indirect.h) that is invalid already, of another protection domain, or used by windows or
 * other descriptions; a window of type 1, one that is not bound, or one that is bound to another QP
 * or belongs to another protection domain.
 */
bool invalidate_key(struct key_user user, uint32_t key);

#endif
