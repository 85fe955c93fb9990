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

/*
 * A request that its responder refused (IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR): is the
 * peer's queue pair to blame, or the region that has the R_Key, where both ends are in this
 * process? "here" has polled the completion.
 */
void uhcav_keys_refused(struct uhcav_here here, const struct uhcav_shadow *s,
			const struct uhcav_request *r, enum ibv_wc_status status);

/*
 * A region that was deregistered by "here", or an address handle that was destroyed: does an
 * outstanding request name it?
 */
void uhcav_keys_gone(struct uhcav_here here, const struct uhcav_object *o);

#endif
