/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault rules about what never comes to the daemon: posting and arming. Without such rules one
 * load of a page that nobody writes, and a branch that is always the same; with them each call asks
 * first (cmd_fault.h).
 */
#ifndef UHCAV_POST_FAULT_H
#define UHCAV_POST_FAULT_H

#include "device.h"

/* What is to become of a call. */
struct uhcav_post_fault {
	int err;        /* errno value; 0: it works */
	uint32_t first; /* with err: so many requests of the list are posted all the same */
};

static inline bool uhcav_post_watched(const struct uhcav_context *ctx)
{
	return __builtin_expect(__atomic_load_n(&ctx->status->post_faults, __ATOMIC_RELAXED) != 0,
				0);
}

/*
 * Asks the daemon; waits as long as the rules say. ask: the verb and what it names. Locks of work
 * queues may be held: if the daemon turns out to be gone, that is found elsewhere, and err is EIO.
 */
struct uhcav_post_fault uhcav_post_fault(struct uhcav_context *ctx,
					 struct uhca_cmd_fault_check *ask);

#endif
