/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of ports, what passes at one of them, and the ways of flows. */
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the links; a node has at most FABRIC_PORTS_MAX. */
int network_number_ports(struct io_network *n, const struct fabric_topology *t)
{
	uint16_t *last = calloc(t->n_nodes, sizeof(*last));

	n->number = calloc(2 * (size_t)t->n_links, sizeof(*n->number));
	for (uint32_t i = 0; i < 2 * t->n_links && n->number && last; i++)
		n->number[i] = ++last[t->links[i / 2].end[i % 2]];
	free(last);
	return n->number && last ? 0 : -ENOMEM;
}

void io_network_port_name(const struct io_network *n, uint32_t port,
			  char text[IO_NETWORK_PORT_NAME])
{
	const struct fabric_topology *t = n->topology;
	const struct fabric_node *node = &t->nodes[t->links[port / 2].end[port % 2]];

	if (node->is_switch)
		snprintf(text, IO_NETWORK_PORT_NAME, "%s/port%u", node->name, n->number[port]);
	else
		snprintf(text, IO_NETWORK_PORT_NAME, "%s", node->name);
}

int64_t io_network_port(const struct io_network *n, const char *name)
{
	char one[IO_NETWORK_PORT_NAME];

	for (uint32_t i = 0; i < fabric_ports(n->fabric); i++) {
		io_network_port_name(n, i, one);
		if (strcmp(one, name) == 0)
			return i;
	}
	return -ENOENT;
}

/* ---- names of links and nodes ---- */

static bool name_links(struct io_network *n)
{
	const struct fabric_topology *t = n->topology;

	n->name_of_link =
		calloc((size_t)t->n_links * IO_NETWORK_LINK_NAMES, sizeof(*n->name_of_link));
	for (uint32_t i = 0; n->name_of_link && i < t->n_links; i++) {
		char(*name)[IO_NETWORK_LINK_NAME] = &n->name_of_link[i * IO_NETWORK_LINK_NAMES];

		for (unsigned end = 0; end < 2; end++) {
			io_network_port_name(n, fabric_link_port(i, end), name[end]);
			snprintf(name[2 + end], IO_NETWORK_LINK_NAME, "%s/%s",
				 t->nodes[t->links[i].end[end]].name,
				 t->nodes[t->links[i].end[1 - end]].name);
		}
	}
	return n->name_of_link;
}

const char *io_network_link_name(struct io_network *n, unsigned i)
{
	if (i >= n->topology->n_links * IO_NETWORK_LINK_NAMES)
		return NULL;
	return n->name_of_link || name_links(n) ? n->name_of_link[i] : NULL;
}

const char *io_network_switch_port(struct io_network *n, unsigned i)
{
	for (uint32_t port = 0; port < fabric_ports(n->fabric); port++)
		if (fabric_is_switch_port(n->fabric, port) && i-- == 0)
			return io_network_link_name(n, port / 2 * IO_NETWORK_LINK_NAMES + port % 2);
	return NULL;
}

const char *io_network_node_name(const struct io_network *n, bool is_switch, unsigned i,
				 uint32_t *node)
{
	const struct fabric_topology *t = n->topology;

	for (*node = 0; *node < t->n_nodes; ++*node)
		if (t->nodes[*node].is_switch == is_switch && t->nodes[*node].index == i)
			return t->nodes[*node].name;
	return NULL;
}

/* ---- what passes, and ways ---- */

static void set_taps(struct io_network *n, bool on)
{
	fabric_tap(n->fabric, n->tap.port, on);
	fabric_tap(n->fabric, n->tap.port ^ 1u, on);
}

void io_network_look(struct io_network *n, const struct io_network_tap *tap)
{
	if (n->tap.seen)
		set_taps(n, false);
	n->tap = tap ? *tap : (struct io_network_tap){0};
	if (tap)
		set_taps(n, true);
}

void io_network_on_hop(struct io_network *n,
		       void (*judge)(void *user, struct io_network_hop *hop, uint64_t now),
		       void *user)
{
	n->judge = judge;
	n->judge_user = user;
	for (uint32_t i = 0; i < fabric_ports(n->fabric); i++)
		if (fabric_is_switch_port(n->fabric, i))
			fabric_judge(n->fabric, i, judge != NULL);
}

unsigned io_network_path(const struct io_network *n, const struct roce_flow *flow, uint32_t *links,
			 unsigned most)
{
	const struct io_device *from = io_fabric_find(n->addresses, flow->src);
	const struct io_device *to = io_fabric_find(n->addresses, flow->dst);

	if (!from || !to)
		return 0;
	return fabric_path(n->fabric, (const uint32_t[]){from->id.index, to->id.index},
			   fabric_flow_key(from->id.index, to->id.index, flow->sport), links, most);
}
