/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of memory that was pinned: the pages that the client has mapped are the arena's, which
 * is mapped here, too (memory/extents.h). All else is as with ordinary regions.
 */
#include "emu/abi/names.h"
#include "emu/core/memory/memory.h"
#include "mr.h"

#include <errno.h>
#include <stdlib.h>

int core_attach_arena(struct client *c, const struct core_arena *arena)
{
	if (c->arena)
		return device_refuse(c->dev, -EBUSY, "the context already has an arena");
	c->arena = arena;
	return 0;
}

/* Memory on demand has no pages of its own that could be pinned. */
int core_reg_pinned_mr(struct client *c, const struct uhca_cmd_reg_pinned_mr *in,
		       struct uhca_cmd_reg_mr_reply *out)
{
	struct mr *mr;
	int err;
	if (in->mr.access & MR_ON_DEMAND)
		return device_refuse(c->dev, -EINVAL, "on-demand memory is not pinned");
	err = mr_register(c, &in->mr, out, &mr);
	if (err)
		return err;
	mr_refund(mr);
	err = extents_make(c, in, &mr->pages, &mr->pinned);
	mr_charge(mr);
	if (err)
		mr_destroy(mr);
	return err;
}

void mr_forget_extents(struct mr *mr)
{
	free(mr->pinned);
	mr->pinned = NULL;
	mr->borrowed = UHCA_ABI_BORROWED_UNTOLD;
}

bool core_pinned_at(const struct client *c, uint64_t at, uint64_t *addr)
{
	uint32_t cursor = 0;
	const struct object *o;
	while ((o = table_next(&c->dev->mrs, &cursor))) {
		const struct mr *mr = (const void *)o;
		if (o->kind == KEY_MR && o->client == c &&
		    extents_find_address(mr->pinned, at, addr))
			return true;
	}
	return false;
}

#define BORROWED_(name, text) [UHCA_ABI_BORROWED_##name] = text,

void mr_describe_pinning(const struct mr *mr, struct facts *f)
{
	static const char *const why[] = {UHCA_ABI_BORROWED_NAMES(BORROWED_)};
	uint64_t bytes = extents_bytes(mr->pinned);

	facts_number(f, "pinned", bytes);
	if (bytes < mr->pages.length && mr->borrowed < sizeof(why) / sizeof(why[0]))
		facts_text(f, "borrowed", why[mr->borrowed]);
}
