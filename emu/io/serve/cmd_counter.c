/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of completion counters (cmd_counter.h). See cmd_handler.h. */
#include "cmd_handler.h"

#include <errno.h>

int cmd_create_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_comp_cntr *in = r->msg;
	struct core_ring ring;
	int error;

	if (in->reserved)
		return -EINVAL;
	error = core_create_comp_cntr(r->client->core, in, &rep->create_comp_cntr, &ring);
	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

CMD_OF_HANDLE(cmd_destroy_comp_cntr, core_destroy_comp_cntr)

static int modify(const struct cmd *r, bool add)
{
	const struct uhca_cmd_modify_comp_cntr *in = r->msg;

	if (in->errors > 1)
		return -EINVAL;
	return core_modify_comp_cntr(r->client->core, in, add);
}

int cmd_set_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return modify(r, false);
}

int cmd_inc_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return modify(r, true);
}

int cmd_attach_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_attach_comp_cntr *in = r->msg;

	(void)rep;
	if (in->reserved)
		return -EINVAL;
	return core_attach_comp_cntr(r->client->core, in);
}
