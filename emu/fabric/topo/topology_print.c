/* SPDX-License-Identifier: BSD-2-Clause */
/* A network written as the text that topology_text.c reads: what differs from the defaults. */
#include "topology.h"

#include <string.h>

/* The settings that differ from those of the same keys elsewhere. */
static void print_settings(FILE *out, const struct fabric_spec_key *keys,
			   const struct fabric_spec_key *usual)
{
	char text[64];

	for (; keys->name; keys++, usual++)
		if (*keys->value != *usual->value)
			fprintf(out, " %s=%s", keys->name,
				fabric_quantity_text(*keys->value, keys->unit, text, sizeof(text)));
	fputc('\n', out);
}

static void print_class(const struct fabric_class_settings *s, struct fabric_class_settings usual,
			unsigned number, FILE *out)
{
	struct fabric_spec_key keys[FABRIC_KEYS_MAX], plain[FABRIC_KEYS_MAX];
	struct fabric_class_settings mine = *s;

	if (memcmp(&mine, &usual, sizeof(mine)) == 0)
		return;
	fabric_class_keys(&mine, keys);
	fabric_class_keys(&usual, plain);
	fprintf(out, "class %u", number);
	print_settings(out, keys, plain);
}

static void print_switch(const struct fabric_node *n, struct fabric_switch_settings usual,
			 FILE *out)
{
	struct fabric_spec_key keys[FABRIC_KEYS_MAX], plain[FABRIC_KEYS_MAX];
	struct fabric_switch_settings mine = n->settings;

	fabric_switch_keys(&mine, keys);
	fabric_switch_keys(&usual, plain);
	fprintf(out, "switch %s", n->name);
	print_settings(out, keys, plain);
}

static void print_link(const struct fabric_topology *t, const struct fabric_link *l,
		       struct fabric_link_settings usual, FILE *out)
{
	struct fabric_spec_key keys[FABRIC_KEYS_MAX], plain[FABRIC_KEYS_MAX];
	struct fabric_link_settings mine = l->settings;

	fabric_link_keys(&mine, keys);
	fabric_link_keys(&usual, plain);
	fprintf(out, "link %s %s", t->nodes[l->end[0]].name, t->nodes[l->end[1]].name);
	print_settings(out, keys, plain);
}

void fabric_topology_print(const struct fabric_topology *t, FILE *out)
{
	struct fabric_topology usual;

	fabric_topology_init(&usual);
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		print_class(&t->classes[c], usual.classes[c], c, out);
	if (t->pause_quanta != usual.pause_quanta)
		fprintf(out, "pause quanta=%u\n", (unsigned)t->pause_quanta);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].is_switch)
			print_switch(&t->nodes[i], usual.switch_each, out);
		else
			fprintf(out, "host %s\n", t->nodes[i].name);
	for (uint32_t i = 0; i < t->n_links; i++)
		print_link(t, &t->links[i], usual.link, out);
}
