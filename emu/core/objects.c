/* SPDX-License-Identifier: BSD-2-Clause */
/* Destroys and visits all objects of a client or a device, type by type. */
#include "objects.h"

#include "emu/core/keys/keys.h"
#include "emu/core/memory/memory.h"
#include "emu/core/packets/packets.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/queues/queues.h"

/* In the order in which they end: users go before what they use. */
static const struct object_type *const types[] = {
	&object_flow, &object_qp_share, &object_mw,   &object_qp, &object_ind_table,
	&object_wq,   &object_srq,      &object_xrcd, &object_cq, &object_comp_cntr,
	&object_ah,   &object_mr,       &object_dm,   &object_pd,
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static const struct table *table_of(const struct device *dev, const struct object_type *t)
{
	return (const struct table *)(const void *)((const char *)dev + t->table);
}

/* What one slot costs that was looked at: more, when its object went. */
static uint32_t end_slot(const struct client *c, const struct object_type *t, uint32_t slot)
{
	struct object *o = table_at(table_of(c->dev, t), slot);

	if (!o || o->client != c || o->kind != t->kind)
		return 1;
	t->destroy(o);
	return CORE_STEPS_PER_OBJECT;
}

bool objects_destroy(struct client *c, bool shared, uint32_t *steps)
{
	struct client_end *at = &c->end;

	for (; at->type < TYPES; at->type++, at->slot = 0) {
		const struct object_type *t = types[at->type];

		if (t->shared != shared)
			continue;
		while (at->slot < table_of(c->dev, t)->size) {
			if (*steps == 0)
				return false;
			steps_take(steps, end_slot(c, t, at->slot++));
		}
	}
	return true;
}

static const struct object_type *type_find(enum core_object_type type)
{
	size_t i = 0;

	while (types[i]->type != type)
		i++;
	return types[i];
}

bool core_visit(struct device *dev, struct core_visit *v, uint32_t places,
		void (*visit)(void *arg, void *client, const struct core_fact *facts, unsigned n),
		void *arg)
{
	const struct object_type *t = type_find(v->type);
	const struct table *table = table_of(dev, t);

	for (; places > 0 && v->next < table->size; places--, v->next++) {
		const struct object *o = table_at(table, v->next);
		struct facts f = {.n = 0};
		if (!o || o->kind != t->kind || (v->client && v->client != o->client->cookie))
			continue;
		v->met++;
		if (!visit)
			continue;
		facts_number(&f, "handle", o->handle);
		t->describe(o, &f);
		visit(arg, o->client->cookie, f.fact, f.n);
	}
	return v->next < table->size;
}

uint32_t core_object_count(const struct device *dev, enum core_object_type type)
{
	const struct object_type *t = type_find(type);

	return t->count ? t->count(dev) : table_of(dev, t)->used;
}

const char *core_object_name(enum core_object_type type)
{
	return type_find(type)->name;
}
