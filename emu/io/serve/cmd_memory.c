/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of protection domains, memory regions, windows and device memory. See cmd_handler.h. */
#include "clients.h"
#include "cmd_handler.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"

#include <errno.h>

int cmd_alloc_pd(struct cmd *r, struct cmd_reply *rep)
{
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
	return made(r, rep, core_reg_mr(r->client->core, r->msg, &rep->reg_mr));
}

/* The others that make a key of what the request says. */
#define CMD_MAKES_KEY(name, verb)                                                                  \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		return made(r, rep, verb(r->client->core, r->msg, &rep->reg_mr));                  \
	}

CMD_MAKES_KEY(cmd_rereg_mr, core_rereg_mr)
CMD_MAKES_KEY(cmd_reg_dm_mr, core_reg_dm_mr)
CMD_MAKES_KEY(cmd_reg_shared_mr, core_reg_shared_mr)

int cmd_alloc_null_mr(struct cmd *r, struct cmd_reply *rep)
{
	return made(r, rep, core_alloc_null_mr(r->client->core, cmd_handle_of(r), &rep->reg_mr));
}

int cmd_alloc_dm(struct cmd *r, struct cmd_reply *rep)
{
	struct core_ring ring;
	int error = core_alloc_dm(r->client->core, r->msg, &rep->alloc_dm, &ring);

	if (error == 0)
		cmd_reply_dm(rep, &ring);
	return error;
}

/* ---- pinned memory ---- */

int cmd_attach_arena(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_attach_arena *in = r->msg;
	struct io_client *c = r->client;
	int error;

	(void)rep;
	if (c->all->pin == UHCA_ABI_PIN_OFF)
		return -EOPNOTSUPP; /* --pin off: the provider does without */
	if (c->arena.open)
		return io_refuse(-EBUSY, "the context already has an arena");
	if (!io_arena_watch_allows(c->peer.pid)) {
		io_log(IO_LOG_INFO,
		       "client %u: its memory is not pinned: it is in another cgroup, and "
		       "userfaultfd(2) is not available",
		       c->id);
		return -EOPNOTSUPP;
	}
	error = io_arena_open(&c->arena, r->fds->fd[0], in->size);
	if (error == 0)
		error = core_attach_arena(c->core, &c->arena.core);
	return error;
}

/* What all contexts of its process have. */
static uint64_t mapped_of(const struct io_client *c)
{
	const struct io_clients *all = c->all;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i]->peer.pid == c->peer.pid)
			bytes += all->at[i]->arena.mapped;
	return bytes;
}

/* A process has as many of our addresses for its arenas as it leaves to the others. */
static bool may_map(const struct io_client *c, uint64_t more)
{
	uint64_t most = io_arenas_most(), used = io_arenas_mapped();

	return used <= most && more <= most - used && mapped_of(c) + more <= most - used;
}

static int reach(struct io_client *c, const struct uhca_abi_extent *e)
{
	uint64_t more;

	if (e->offset > c->arena.core.size || e->length > c->arena.core.size - e->offset)
		return -EINVAL;
	more = io_arena_missing(&c->arena, e->offset, e->length);
	if (more == 0)
		return 0;
	if (may_map(c, more))
		return io_arena_reach(&c->arena, e->offset, e->length);
	io_log(IO_LOG_WARN,
	       "client %u: %s: no address space for %llu GiB more of its arena (%llu GiB in use): "
	       "its memory is not pinned",
	       c->id, c->program, (unsigned long long)(more >> 30),
	       (unsigned long long)(io_arenas_mapped() >> 30));
	return -ENOSPC;
}

int cmd_reg_pinned_mr(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_reg_pinned_mr *in = r->msg;
	int error = r->client->arena.open ? 0 : -EINVAL;

	for (uint32_t i = 0; error == 0 && i < in->n_extents && i < UHCA_ABI_EXTENTS; i++)
		error = reach(r->client, &in->extent[i]);
	if (error < 0)
		return error;
	return made(r, rep, core_reg_pinned_mr(r->client->core, r->msg, &rep->reg_mr));
}

CMD_OF_HANDLE(cmd_dealloc_pd, core_dealloc_pd)
CMD_OF_HANDLE(cmd_dereg_mr, core_dereg_mr)
CMD_OF_HANDLE(cmd_dealloc_mw, core_dealloc_mw)
CMD_OF_HANDLE(cmd_free_dm, core_free_dm)
CMD_OF_REQUEST(cmd_advise_mr, core_advise_mr)
CMD_WITH_REPLY(cmd_alloc_mw, core_alloc_mw, alloc_mw)
CMD_WITH_REPLY(cmd_alloc_key, core_alloc_key, reg_mr)
CMD_OF_REQUEST(cmd_describe_key, core_describe_key)
