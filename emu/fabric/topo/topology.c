/* SPDX-License-Identifier: BSD-2-Clause */
/* A network as data: nodes, links and names. See topology.h. */
#include "topology.h"

#include "emu/array/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MIN 64u

static const struct fabric_link_settings link_default = {
	.rate = UINT64_C(100000000000), .delay = FABRIC_US, .mtu = 4200, .gap = 20};
static const struct fabric_switch_settings switch_default = {.buffer = 32000000,
							     .reserve = 4096,
							     .headroom = FABRIC_AUTO,
							     .alpha = FABRIC_RATIO_ONE / 8,
							     .xon = 3072,
							     .salt = FABRIC_AUTO};
static const struct fabric_class_settings class_default = {.weight = 1};

void fabric_topology_init(struct fabric_topology *t)
{
	*t = (struct fabric_topology){
		.link = link_default, .switch_each = switch_default, .pause_quanta = 65535};
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		t->classes[c] = class_default;
	t->classes[3] = (struct fabric_class_settings){.lossless = 1,
						       .weight = 1,
						       .kmin = 100000,
						       .kmax = 400000,
						       .pmax = FABRIC_RATIO_ONE / 5,
						       .per = UINT64_C(25000000000)};
	t->classes[6].strict = 1;
}

void fabric_topology_fini(struct fabric_topology *t)
{
	free(t->nodes);
	free(t->links);
	free(t->names);
	t->nodes = NULL;
	t->links = NULL;
	t->names = NULL;
}

static uint32_t hash(const char *at, size_t length)
{
	uint64_t h = length;

	for (size_t i = 0; i < length; i++)
		h = fabric_mix(h * 31 + (unsigned char)at[i]);
	return (uint32_t)h;
}

/* The place of the name in the table, or the free one where it would be. */
static uint32_t *place(const struct fabric_topology *t, const char *at, size_t length)
{
	uint32_t i = hash(at, length);

	for (;; i++) {
		uint32_t *p = &t->names[i & (t->names_size - 1)];
		const char *name = *p ? t->nodes[*p - 1].name : NULL;

		if (!name || (strncmp(name, at, length) == 0 && !name[length]))
			return p;
	}
}

uint32_t fabric_topology_find(const struct fabric_topology *t, const char *at, size_t length)
{
	if (!t->names || length > FABRIC_NAME_MAX)
		return UINT32_MAX;
	return *place(t, at, length) - 1;
}

/* The table is never more than half full. */
static int grow_names(struct fabric_topology *t)
{
	const uint32_t size = t->names_size ? 2 * t->names_size : NAMES_MIN;
	uint32_t *names;

	if (2 * (t->n_nodes + 1) <= t->names_size)
		return 0;
	names = calloc(size, sizeof(*names));
	if (!names)
		return -ENOMEM;
	free(t->names);
	t->names = names;
	t->names_size = size;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		*place(t, t->nodes[i].name, strlen(t->nodes[i].name)) = i + 1;
	return 0;
}

int64_t fabric_topology_node(struct fabric_topology *t, const char *name, bool is_switch)
{
	const size_t length = strlen(name);
	struct fabric_node *node;

	if (t->n_nodes == FABRIC_NODES_MAX)
		return -E2BIG;
	if (fabric_topology_find(t, name, length) != UINT32_MAX)
		return -EEXIST;
	if (!array_make_room(&t->nodes, t->n_nodes, &t->nodes_size, sizeof(*t->nodes)) ||
	    grow_names(t) < 0)
		return -ENOMEM;
	node = &t->nodes[t->n_nodes];
	*node = (struct fabric_node){.is_switch = is_switch, .settings = t->switch_each};
	memcpy(node->name, name, length < FABRIC_NAME_MAX ? length : FABRIC_NAME_MAX);
	node->index = is_switch ? t->n_switches++ : t->n_hosts++;
	*place(t, node->name, strlen(node->name)) = t->n_nodes + 1;
	return t->n_nodes++;
}

int fabric_topology_link(struct fabric_topology *t, uint32_t a, uint32_t b,
			 const struct fabric_link_settings *settings)
{
	const uint32_t ends[2] = {a, b};

	if (a == b)
		return -EINVAL;
	if (t->n_links == FABRIC_LINKS_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < 2; i++) {
		const struct fabric_node *n = &t->nodes[ends[i]];

		if (!n->is_switch && n->ports)
			return -EBUSY;
		if (n->ports == FABRIC_PORTS_MAX)
			return -E2BIG;
	}
	if (!array_make_room(&t->links, t->n_links, &t->links_size, sizeof(*t->links)))
		return -ENOMEM;
	t->links[t->n_links++] = (struct fabric_link){{a, b}, *settings};
	t->nodes[a].ports++;
	t->nodes[b].ports++;
	return 0;
}

uint64_t fabric_topology_host_rate(const struct fabric_topology *t)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct fabric_link *l = &t->links[i];
		const bool of_host =
			!t->nodes[l->end[0]].is_switch || !t->nodes[l->end[1]].is_switch;

		if (of_host && l->settings.rate > most)
			most = l->settings.rate;
	}
	return most;
}

uint64_t fabric_topology_mtu(const struct fabric_topology *t)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].settings.mtu < least)
			least = t->links[i].settings.mtu;
	return least;
}

unsigned fabric_topology_scale(const struct fabric_topology *t)
{
	const uint64_t scale = fabric_topology_host_rate(t) / UINT64_C(1000000000);

	return scale ? (unsigned)scale : 1;
}

int fabric_topology_check(const struct fabric_topology *t, struct fabric_error *e)
{
	*e = (struct fabric_error){0};
	if (t->n_hosts < 2)
		return fabric_refuse(e, "", "", "a network needs two hosts or more, not %u",
				     t->n_hosts);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (!t->nodes[i].is_switch && !t->nodes[i].ports)
			return fabric_refuse(e, "", "", "host %s has no link", t->nodes[i].name);
	return 0;
}

/* ---- settings as keys ---- */

#define RATE_MAX  UINT64_C(10000000000000)
#define TIME_MAX  UINT64_C(10000000000000)
#define BYTES_MAX UINT64_C(1000000000000)

void fabric_link_keys(struct fabric_link_settings *s, struct fabric_spec_key *keys)
{
	const struct fabric_spec_key list[] = {
		{"rate", FABRIC_RATE, 1000000, RATE_MAX, &s->rate},
		{"delay", FABRIC_TIME, 0, TIME_MAX, &s->delay},
		{"jitter", FABRIC_TIME, 0, TIME_MAX, &s->jitter},
		{"mtu", FABRIC_BYTES, 64, 65535, &s->mtu},
		{"loss", FABRIC_RATIO, 0, FABRIC_RATIO_ONE, &s->loss},
		{"lose-every", FABRIC_COUNT, 0, UINT32_MAX, &s->lose_every},
		{"gap", FABRIC_BYTES, 0, 1000, &s->gap},
		{0}};

	memcpy(keys, list, sizeof(list));
}

void fabric_switch_keys(struct fabric_switch_settings *s, struct fabric_spec_key *keys)
{
	const struct fabric_spec_key list[] = {
		{"buffer", FABRIC_BYTES, 1000, BYTES_MAX, &s->buffer},
		{"reserve", FABRIC_BYTES, 0, BYTES_MAX, &s->reserve},
		{"headroom", FABRIC_BYTES, 0, BYTES_MAX, &s->headroom},
		{"alpha", FABRIC_RATIO, 1, 64 * FABRIC_RATIO_ONE, &s->alpha},
		{"xon", FABRIC_BYTES, 0, BYTES_MAX, &s->xon},
		{"watchdog", FABRIC_TIME, 0, TIME_MAX, &s->watchdog},
		{"restore", FABRIC_TIME, 0, TIME_MAX, &s->restore},
		{"salt", FABRIC_COUNT, 0, UINT32_MAX, &s->salt},
		{0}};

	memcpy(keys, list, sizeof(list));
}

void fabric_class_keys(struct fabric_class_settings *s, struct fabric_spec_key *keys)
{
	const struct fabric_spec_key list[] = {
		{"lossless", FABRIC_COUNT, 0, 1, &s->lossless},
		{"strict", FABRIC_COUNT, 0, 1, &s->strict},
		{"weight", FABRIC_COUNT, 1, 1000, &s->weight},
		{"kmin", FABRIC_BYTES, 0, FABRIC_MARK_MAX, &s->kmin},
		{"kmax", FABRIC_BYTES, 0, FABRIC_MARK_MAX, &s->kmax},
		{"pmax", FABRIC_RATIO, 0, FABRIC_RATIO_ONE, &s->pmax},
		{"per", FABRIC_RATE, 0, RATE_MAX, &s->per},
		{0}};

	memcpy(keys, list, sizeof(list));
}
