/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of what belongs to raw packet queue pairs. See cmd_handler.h. */
#include "cmd_handler.h"

#include <errno.h>

int cmd_create_flow(struct cmd *r, struct cmd_reply *rep)
{
	return core_create_flow(r->client->core, r->msg, &rep->handle.handle);
}

CMD_DESTROY(cmd_destroy_flow, core_destroy_flow)
