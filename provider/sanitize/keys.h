/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the keys that requests name. */
#ifndef UHCAV_SANITIZE_KEYS_H
#define UHCAV_SANITIZE_KEYS_H

#include "provider/connection/connection.h"
#include "shadow.h"

/*
 * An element of a request that is about to be posted: is its key good for it? Returns where it is
 * in the process; 0: nowhere, or it is not known.
 */
uint64_t uhcav_keys_look(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 const struct ibv_sge *e);

/*
 * A remote request that its responder refused (IBV_WC_REM_ACCESS_ERR): does its R_Key name a region
 * of this process on another device than the peer's? "here" has polled the completion. True: told.
 */
bool uhcav_keys_elsewhere(struct uhcav_here here, const struct uhcav_shadow *s,
			  const struct uhcav_request *r, const struct uhcav_asker *who);

/*
 * A request that failed with IBV_WC_LOC_PROT_ERR: does it name an L_Key that nothing has? Such keys
 * are not judged at the post, since direct verbs have keys of their own. "here" has polled the
 * completion.
 */
void uhcav_keys_unknown(struct uhcav_here here, const struct uhcav_shadow *s,
			const struct uhcav_request *r, const struct uhcav_asker *who);

/*
 * A region that was deregistered by "here", or an address handle that was destroyed: does an
 * outstanding request name it?
 */
void uhcav_keys_gone(struct uhcav_here here, const struct uhcav_object *o);

#endif
