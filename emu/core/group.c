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
		return -EINVAL;
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

static void pass_on(struct table *t, const struct client *from, struct client *to)
{
	uint32_t cursor = 0;
	for (struct object *o; (o = table_next(t, &cursor));)
		if (o->client == from)
			o->client = to;
}

static void lose_memory(const struct client *c)
{
	uint32_t cursor = 0;
	for (struct mr *mr; (mr = table_next(&c->dev->mrs, &cursor));)
		if (mr->obj.client == c && mr->obj.kind == KEY_MR &&
		    (mr->kind == MR_KIND_MEMORY || mr->kind == MR_KIND_IMPLICIT))
			mr_lose(mr);
}

void group_leave(struct client *c)
{
	struct client *heir = c->group ? find_heir(c) : NULL;
	if (heir) {
		lose_memory(c);
		pass_on(&c->dev->mrs, c, heir);
		pass_on(&c->dev->dms, c, heir);
		pass_on(&c->dev->pds, c, heir);
	}
	if (c->group && --c->group->members == 0)
		free(c->group);
	c->group = NULL;
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
	out->rkey = mr->kind == MR_KIND_NULL ? 0 : mr->key;
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
