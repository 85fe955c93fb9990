/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the next events touch is fetched into the cache while others are at work: a network of a
 * thousand hosts does not fit into it, and a hop touches a dozen of its lines. First comes the
 * port, then what the port points to, then what that points to. Nothing here changes anything.
 */
#include "network.h"

/* The class that is to send next, most likely. */
static unsigned class_of(const struct port *p)
{
	return 31u - (unsigned)__builtin_clz(p->nonempty | 1u);
}

/* A packet that is about to arrive: its place in the next switch, or its host. */
static void arrives(const struct fabric *f, const struct port *from, const struct fabric_packet *k)
{
	const struct node *n = &f->nodes[from->far];
	const struct port *in = &f->ports[(uint32_t)(from - f->ports) ^ 1u];

	if (k->class >= FABRIC_CLASSES)
		return;
	if (node_is_switch(n)) {
		__builtin_prefetch(&in->lane[k->class]);
		routes_ahead(f, n, k->dst);
	} else if (f->ops->soon) {
		f->ops->soon(f->user, k->dst, k);
	}
}

static void leaves(const struct fabric *f, const struct port *p)
{
	const struct node *n = &f->nodes[p->node];

	__builtin_prefetch(p->lane[class_of(p)].queue.first);
	if (!node_is_switch(n) && f->ops->soon)
		f->ops->soon(f->user, n->index, NULL);
}

void ahead_near(const void *fabric, uint32_t slot, unsigned row)
{
	const struct fabric *f = fabric;
	const struct port *p = &f->ports[slot / PORT_SLOTS];
	const enum port_slot what = slot % PORT_SLOTS;

	if (slot >= f->n_ports * PORT_SLOTS || what > SLOT_FREE)
		return;
	if (row == 3)
		__builtin_prefetch(p);
	else if (row == 2)
		__builtin_prefetch(what == SLOT_ARRIVE ? (const void *)p->on_link.first
						       : &p->lane[class_of(p)]);
	else if (what == SLOT_ARRIVE)
		arrives(f, p, p->on_link.first);
	else
		leaves(f, p);
}
