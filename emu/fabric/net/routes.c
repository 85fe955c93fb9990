/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes: from each switch all ports that are on a shortest path to the destination's switch.
 * ECMP takes one by the hash of the flow; each switch salts it, or all would choose alike. A
 * switch keeps a set of ports once, however many destinations use it.
 */
#include "network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct routes {
	uint32_t n_switches;
	uint32_t *set;   /* [from][to]: where in sets; 0: no route */
	uint32_t *first; /* [from]: its latest set */
	uint32_t *sets;  /* each: the set of its switch before it, how many ports, the ports */
	uint32_t used, size;
	uint32_t *distance; /* while routes are made */
	uint32_t *queue;
};

void routes_free(struct routes *r)
{
	if (!r)
		return;
	free(r->set);
	free(r->first);
	free(r->sets);
	free(r->distance);
	free(r->queue);
	free(r);
}

static bool works(struct fabric *f, uint32_t port)
{
	const struct port *p = &f->ports[port];

	return !p->down && !f->nodes[port_peer(f, p)->node].down && !f->nodes[p->node].down;
}

static uint32_t far_node(struct fabric *f, uint32_t port)
{
	return port_peer(f, &f->ports[port])->node;
}

/* How far each node is from this one, over switches. */
static void measure(struct fabric *f, struct routes *r, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	memset(r->distance, 0xff, f->topology->n_nodes * sizeof(*r->distance));
	r->distance[to] = 0;
	r->queue[tail++] = to;
	while (head < tail) {
		const uint32_t at = r->queue[head++];
		const struct node *n = &f->nodes[at];

		for (uint32_t i = 0; i < n->n_ports; i++) {
			const uint32_t next = far_node(f, n->ports[i]);

			if (!node_is_switch(&f->nodes[next]) || r->distance[next] != UINT32_MAX ||
			    !works(f, n->ports[i]))
				continue;
			r->distance[next] = r->distance[at] + 1;
			r->queue[tail++] = next;
		}
	}
}

static int reserve(struct routes *r, uint32_t more)
{
	const uint32_t size = 2 * r->size + more;
	uint32_t *sets;

	if (r->used + more <= r->size)
		return 0;
	sets = realloc(r->sets, size * sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	r->sets = sets;
	r->size = size;
	return 0;
}

/* The set that was put behind all others, or the same one that the switch has already. */
static uint32_t settle_set(struct routes *r, uint32_t from)
{
	const uint32_t fresh = r->used, count = r->sets[fresh + 1];

	if (!count)
		return 0;
	for (uint32_t at = r->first[from]; at; at = r->sets[at])
		if (memcmp(&r->sets[at + 1], &r->sets[fresh + 1], (count + 1) * sizeof(*r->sets)) ==
		    0)
			return at;
	r->sets[fresh] = r->first[from];
	r->first[from] = fresh;
	r->used += count + 2;
	return fresh;
}

static int find_ports(struct fabric *f, struct routes *r, const struct node *n)
{
	const uint32_t here = r->distance[n - f->nodes];
	uint32_t count = 0;

	if (reserve(r, n->n_ports + 2) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n->n_ports && here != UINT32_MAX; i++) {
		const uint32_t next = far_node(f, n->ports[i]);

		if (node_is_switch(&f->nodes[next]) && works(f, n->ports[i]) &&
		    r->distance[next] + 1 == here)
			r->sets[r->used + 2 + count++] = n->ports[i];
	}
	r->sets[r->used + 1] = count;
	return 0;
}

/* From everywhere to one switch. */
static int route_to(struct fabric *f, struct routes *r, uint32_t to)
{
	const uint32_t column = f->nodes[to].of->index;

	measure(f, r, to);
	for (uint32_t i = 0; i < f->topology->n_nodes; i++) {
		const struct node *n = &f->nodes[i];

		if (!node_is_switch(n))
			continue;
		if (find_ports(f, r, n) < 0)
			return -ENOMEM;
		r->set[(size_t)n->index * r->n_switches + column] = settle_set(r, n->index);
	}
	return 0;
}

static int allocate(struct routes *r, const struct fabric_topology *t)
{
	r->n_switches = t->n_switches;
	r->set = calloc((size_t)t->n_switches * t->n_switches + 1, sizeof(*r->set));
	r->first = calloc(t->n_switches + 1, sizeof(*r->first));
	r->distance = malloc(t->n_nodes * sizeof(*r->distance));
	r->queue = malloc(t->n_nodes * sizeof(*r->queue));
	if (!r->set || !r->first || !r->distance || !r->queue || reserve(r, 2) < 0)
		return -ENOMEM;
	r->sets[0] = r->sets[1] = 0;
	r->used = 2;
	return 0;
}

static bool has_hosts(const struct fabric *f, const struct node *n)
{
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (!node_is_switch(&f->nodes[f->ports[n->ports[i] ^ 1u].node]))
			return true;
	return false;
}

int routes_make(struct fabric *f, struct routes **out)
{
	struct routes *r = calloc(1, sizeof(*r));
	int status = r ? allocate(r, f->topology) : -ENOMEM;

	for (uint32_t i = 0; i < f->topology->n_nodes && status == 0; i++)
		if (node_is_switch(&f->nodes[i]) && has_hosts(f, &f->nodes[i]))
			status = route_to(f, r, i);
	if (status < 0)
		routes_free(r);
	else
		*out = r;
	return status;
}

void routes_ahead(const struct fabric *f, const struct node *n, uint32_t host)
{
	const struct place *to = &f->places[host];
	const struct routes *r = f->routes;

	if (to->by_switch)
		__builtin_prefetch(&r->set[(size_t)n->index * r->n_switches + to->index]);
}

struct port *routes_next(const struct fabric *f, const struct node *n, uint32_t host, uint32_t flow)
{
	const struct place *to = &f->places[host];
	const struct routes *r = f->routes;
	const uint32_t *set;

	if (&f->nodes[to->node] == n)
		return &f->ports[to->port ^ 1u];
	if (!to->by_switch)
		return NULL;
	set = &r->sets[r->set[(size_t)n->index * r->n_switches + to->index] + 1];
	if (set[0] <= 1)
		return set[0] ? &f->ports[set[1]] : NULL;
	return &f->ports[set[1 + ((fabric_mix(flow ^ n->salt) >> 32) * set[0] >> 32)]];
}
