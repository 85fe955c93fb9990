/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of memory that was adopted: the pages that the client has mapped are the arena's, which
 * is mapped here, too (memory/extents.h). All else is as with ordinary regions.
 */
#include "emu/abi/names.h"
#include "emu/core/memory/memory.h"
#include "mr.h"

#include <errno.h>
#include <stdlib.h>

int core_attach_arena(struct client *c, void *base, uint64_t size)
{
	if (c->arena)
		return -EBUSY;
	c->arena = base;
	c->arena_size = size;
	return 0;
}

/* Memory on demand has no pages of its own that could be adopted. */
int core_reg_adopted_mr(struct client *c, const struct uhca_cmd_reg_adopted_mr *in,
			struct uhca_cmd_reg_mr_reply *out)
{
	struct mr *mr;
	int err = in->mr.access & MR_ON_DEMAND ? -EINVAL : mr_register(c, &in->mr, out, &mr);
	if (err)
		return err;
	mr_refund(mr);
	err = extents_make(c, in, &mr->pages, &mr->adopted);
	mr_charge(mr);
	if (err)
		mr_destroy(mr);
	return err;
}

void mr_forget_extents(struct mr *mr)
{
	free(mr->adopted);
	mr->adopted = NULL;
	mr->borrowed = UHCA_ABI_BORROWED_UNTOLD;
}

bool core_adopted_at(const struct client *c, uint64_t at, uint64_t *addr)
{
	uint32_t cursor = 0;
	const struct object *o;
	while ((o = table_next(&c->dev->mrs, &cursor))) {
		const struct mr *mr = (const void *)o;
		if (o->kind == KEY_MR && o->client == c &&
		    extents_find_address(mr->adopted, at, addr))
			return true;
	}
	return false;
}

#define BORROWED_(name, text) [UHCA_ABI_BORROWED_##name] = text,

void mr_describe_adoption(const struct mr *mr, struct facts *f)
{
	static const char *const why[] = {UHCA_ABI_BORROWED_NAMES(BORROWED_)};
	uint64_t bytes = extents_bytes(mr->adopted);

	facts_number(f, "adopted", bytes);
	if (bytes < mr->pages.length && mr->borrowed < sizeof(why) / sizeof(why[0]))
		facts_text(f, "borrowed", why[mr->borrowed]);
}
