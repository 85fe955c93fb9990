/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of what belongs to raw packet queue pairs. See cmd_handler.h. */
#include "cmd_handler.h"

#include "emu/io/base/base.h"

#include <errno.h>

int cmd_create_flow(struct cmd *r, struct cmd_reply *rep)
{
	return core_create_flow(r->client->core, r->msg, &rep->handle.handle);
}

int cmd_create_wq(struct cmd *r, struct cmd_reply *rep)
{
	struct core_ring ring;
	int error = core_create_wq(r->client->core, r->msg, &rep->create_srq, &ring);

	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

int cmd_modify_wq(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_modify_wq(r->client->core, r->msg, io_clock_now());
}

int cmd_create_rwq_ind_table(struct cmd *r, struct cmd_reply *rep)
{
	return core_create_rwq_ind_table(r->client->core, r->msg, &rep->handle.handle);
}

CMD_OF_HANDLE(cmd_destroy_wq, core_destroy_wq)
CMD_OF_HANDLE(cmd_destroy_rwq_ind_table, core_destroy_rwq_ind_table)
CMD_OF_HANDLE(cmd_destroy_flow, core_destroy_flow)
