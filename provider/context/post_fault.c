/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the daemon for fault rules of posts and arming, while such rules are there. */
#include "post_fault.h"

#include "refuse.h"

#include <errno.h>

/* Not uhcav_context_call: what a dead context does takes locks that come before ours. */
struct uhcav_post_fault uhcav_post_fault(struct uhcav_context *ctx,
					 struct uhca_cmd_fault_check *ask)
{
	struct uhca_cmd_fault_check_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_FAULT_CHECK, ask, &reply);
	int saved = errno;
	int err = uhcav_rpc_call(&ctx->rpc, &call);

	errno = saved;
	if (err)
		return (struct uhcav_post_fault){.err = call.lost ? EIO : -err};
	if (reply.error)
		uhcav_because((int)reply.error, "a fault rule makes it fail");
	return (struct uhcav_post_fault){.err = (int)reply.error, .first = reply.first};
}
