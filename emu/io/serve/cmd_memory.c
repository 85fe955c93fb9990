/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of protection domains, memory regions, windows and device memory. See cmd_handler.h. */
#include "clients.h"
#include "cmd_handler.h"
#include "emu/io/capture/captures.h"

#include <errno.h>

int cmd_alloc_pd(struct cmd *r, struct cmd_reply *rep)
{
	uint32_t handle;

	if (cmd_only_handle(r, &handle) < 0 || handle != 0)
		return -EINVAL;
	return core_alloc_pd(r->client->core, &rep->handle.handle);
}

/* A key that was made is told of, and may be for memory that was something else before. */
static int made(const struct cmd *r, const struct cmd_reply *rep, int error)
{
	io_mem_forget(&r->client->mem);
	if (error == 0)
		io_pcap_region(r->client->dev->pcap, 0, rep->reg_mr.rkey);
	return error;
}

int cmd_reg_mr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_reg_mr *in = r->msg;

	if (in->reserved)
		return -EINVAL;
	return made(r, rep, core_reg_mr(r->client->core, r->msg, &rep->reg_mr));
}

int cmd_rereg_mr(struct cmd *r, struct cmd_reply *rep)
{
	return made(r, rep, core_rereg_mr(r->client->core, r->msg, &rep->reg_mr));
}

int cmd_alloc_null_mr(struct cmd *r, struct cmd_reply *rep)
{
	uint32_t pd;

	if (cmd_only_handle(r, &pd) < 0)
		return -EINVAL;
	return made(r, rep, core_alloc_null_mr(r->client->core, pd, &rep->reg_mr));
}

int cmd_advise_mr(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_advise_mr(r->client->core, r->msg);
}

int cmd_alloc_mw(struct cmd *r, struct cmd_reply *rep)
{
	return core_alloc_mw(r->client->core, r->msg, &rep->alloc_mw);
}

int cmd_alloc_dm(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_alloc_dm *in = r->msg;
	struct core_ring ring;
	int error;

	error = core_alloc_dm(r->client->core, in, &rep->alloc_dm, &ring);
	if (error == 0)
		cmd_reply_dm(rep, &ring);
	return error;
}

int cmd_reg_dm_mr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_reg_dm_mr *in = r->msg;

	if (in->reserved)
		return -EINVAL;
	return made(r, rep, core_reg_dm_mr(r->client->core, in, &rep->reg_mr));
}

int cmd_reg_shared_mr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_reg_shared_mr *in = r->msg;

	if (in->reserved)
		return -EINVAL;
	return made(r, rep, core_reg_shared_mr(r->client->core, in, &rep->reg_mr));
}

int cmd_attach_arena(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_attach_arena *in = r->msg;
	struct io_arena *arena = &r->client->arena;
	int error;

	(void)rep;
	if (arena->base)
		return -EBUSY;
	error = io_arena_open(arena, r->fds->fd[0], in->size);
	if (error == 0)
		error = core_attach_arena(r->client->core, arena->base, arena->size);
	return error;
}

int cmd_reg_adopted_mr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_reg_adopted_mr *in = r->msg;

	if (in->mr.reserved)
		return -EINVAL;
	return made(r, rep, core_reg_adopted_mr(r->client->core, r->msg, &rep->reg_mr));
}

int cmd_alloc_key(struct cmd *r, struct cmd_reply *rep)
{
	return core_alloc_key(r->client->core, r->msg, &rep->reg_mr);
}

int cmd_describe_key(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_describe_key(r->client->core, r->msg);
}

CMD_OF_HANDLE(cmd_dealloc_pd, core_dealloc_pd)
CMD_OF_HANDLE(cmd_dereg_mr, core_dereg_mr)
CMD_OF_HANDLE(cmd_dealloc_mw, core_dealloc_mw)
CMD_OF_HANDLE(cmd_free_dm, core_free_dm)
