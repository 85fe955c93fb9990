/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining, leaving and inheriting; and what a member may ask about another's objects. */
#include "group.h"
#include "emu/core/keys/keys.h"
#include "emu/core/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

int core_client_join(struct client *c, struct client *other)
{
	if (c == other || c->group || c->dev != other->dev)
		return device_refuse(c->dev, -EINVAL, "the context already shares its objects");
	if (!other->group) {
		other->group = calloc(1, sizeof(*other->group));
		if (!other->group)
			return -ENOMEM;
		other->group->members = 1;
	}
	c->group = other->group;
	c->group->members++;
	return 0;
}

static struct client *find_heir(const struct client *c)
{
	const struct list *all = &c->dev->clients;
	for (struct list *l = all->next; l != all; l = l->next) {
		struct client *other = list_entry(l, struct client, link);
		if (other != c && other->group == c->group)
			return other;
	}
	return NULL;
}

/* What one slot costs that was looked at: more, when its object was the client's. */
static uint32_t pass_on(struct object *o, const struct client *from, struct client *to)
{
	if (!o || o->client != from)
		return 1;
	o->client = to;
	return CORE_STEPS_PER_OBJECT;
}

static uint32_t pass_on_key(struct object *o, const struct client *from, struct client *to)
{
	struct mr *mr = (struct mr *)(void *)o;
	uint32_t cost;

	if (!o || o->client != from || o->kind != KEY_MR)
		return pass_on(o, from, to);
	if (mr->kind == MR_KIND_MEMORY || mr->kind == MR_KIND_IMPLICIT)
		mr_lose(mr);
	mr_refund(mr);
	cost = pass_on(o, from, to);
	mr_charge(mr);
	return cost;
}

/* The next part of all that is shared; true when there is no more. */
static bool bequeath(struct client *c, struct client *heir, uint32_t *steps)
{
	const struct table *all[] = {&c->dev->mrs, &c->dev->dms, &c->dev->pds};
	struct client_end *at = &c->end;

	for (; at->type < sizeof(all) / sizeof(all[0]); at->type++, at->slot = 0) {
		while (at->slot < all[at->type]->size) {
			struct object *o = table_at(all[at->type], at->slot);

			if (*steps == 0)
				return false;
			steps_take(steps, (at->type ? pass_on : pass_on_key)(o, c, heir));
			at->slot++;
		}
	}
	return true;
}

/* Who inherits is found anew in each part: it may have ended meanwhile. */
bool group_leave(struct client *c, uint32_t *steps)
{
	struct client *heir = c->group ? find_heir(c) : NULL;

	if (heir && !bequeath(c, heir, steps))
		return false;
	if (c->group && --c->group->members == 0)
		free(c->group);
	c->group = NULL;
	return true;
}

int core_import_pd(struct client *c, uint32_t handle)
{
	struct pd *pd;
	return client_find_shared(c, &c->dev->pds, handle, &pd);
}

int core_import_mr(struct client *c, uint32_t handle, struct uhca_cmd_import_reply *out)
{
	struct mr *mr;
	int err = mr_find(c, handle, &mr);
	if (err)
		return err;
	out->lkey = mr->key;
	out->rkey = mr->kind == MR_KIND_NULL ? 0 : mr_rkey(mr);
	out->length = mr->pages.length;
	out->iova = mr->iova;
	return 0;
}

int core_import_dm(struct client *c, uint32_t handle, struct uhca_cmd_import_reply *out,
		   struct core_ring *ring)
{
	struct dm *dm;
	int err = client_find_shared(c, &c->dev->dms, handle, &dm);
	if (err)
		return err;
	out->length = dm->length;
	out->region_size = dm->ring.size;
	*ring = dm->ring;
	return 0;
}
