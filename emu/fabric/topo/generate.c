/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks that are made from a few numbers. All share the keys of a link and of a switch
 * ("fat-tree:k=4,rate=25G,buffer=16M"). Hosts are numbered from h0; those of one switch follow each
 * other.
 */
#include "topology.h"

#include "emu/words/words.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define OWN_KEYS 3u

struct plan {
	struct fabric_topology *t;
	uint64_t number[OWN_KEYS];
	uint64_t uplink; /* rate of links between switches; 0: that of all links */
	int status;      /* of the first step that failed */
};

struct generator {
	const char *name;
	const char *help;
	struct {
		const char *name;
		uint64_t usual, max;
	} key[OWN_KEYS];
	void (*make)(struct plan *p);
};

static uint32_t add(struct plan *p, bool is_switch, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static uint32_t add(struct plan *p, bool is_switch, const char *format, ...)
{
	char name[FABRIC_NAME_MAX + 1];
	va_list args;
	int64_t node;

	if (p->status < 0)
		return 0;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	node = fabric_topology_node(p->t, name, is_switch);
	if (node < 0)
		p->status = (int)node;
	return node < 0 ? 0 : (uint32_t)node;
}

static void join(struct plan *p, uint32_t a, uint32_t b)
{
	struct fabric_link_settings s = p->t->link;

	if (p->status < 0)
		return;
	if (p->uplink && p->t->nodes[a].is_switch && p->t->nodes[b].is_switch)
		s.rate = p->uplink;
	p->status = fabric_topology_link(p->t, a, b, &s);
}

static void add_hosts(struct plan *p, uint32_t to, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		join(p, add(p, false, "h%u", p->t->n_hosts), to);
}

static void one_switch(struct plan *p)
{
	add_hosts(p, add(p, true, "switch"), p->number[0]);
}

static void dumbbell(struct plan *p)
{
	const uint32_t left = add(p, true, "left"), right = add(p, true, "right");

	join(p, left, right);
	add_hosts(p, left, p->number[0]);
	add_hosts(p, right, p->number[0]);
}

static void leaf_spine(struct plan *p)
{
	const uint32_t first = p->t->n_nodes;

	for (uint64_t s = 0; s < p->number[1]; s++)
		add(p, true, "spine%u", (unsigned)s);
	for (uint64_t l = 0; l < p->number[0]; l++) {
		const uint32_t leaf = add(p, true, "leaf%u", (unsigned)l);

		for (uint64_t s = 0; s < p->number[1]; s++)
			join(p, leaf, first + (uint32_t)s);
		add_hosts(p, leaf, p->number[2]);
	}
}

/* A pod: k/2 edge switches with k/2 hosts each, and k/2 aggregation switches. */
static void fat_tree_pod(struct plan *p, unsigned pod, uint32_t first_core)
{
	const unsigned half = (unsigned)p->number[0] / 2;
	const uint32_t first = p->t->n_nodes;

	for (unsigned a = 0; a < half; a++) {
		const uint32_t node = add(p, true, "agg%u.%u", pod, a);

		for (unsigned c = 0; c < half; c++)
			join(p, node, first_core + a * half + c);
	}
	for (unsigned e = 0; e < half; e++) {
		const uint32_t node = add(p, true, "edge%u.%u", pod, e);

		for (unsigned a = 0; a < half; a++)
			join(p, node, first + a);
		add_hosts(p, node, half);
	}
}

static void fat_tree(struct plan *p)
{
	const unsigned k = (unsigned)p->number[0];
	const uint32_t first = p->t->n_nodes;

	if (k % 2) {
		p->status = -EDOM;
		return;
	}
	for (unsigned c = 0; c < k * k / 4; c++)
		add(p, true, "core%u", c);
	for (unsigned pod = 0; pod < k; pod++)
		fat_tree_pod(p, pod, first);
}

/* Each server has a device on each rail; a rail is a switch. Spines join the rails. */
static void rail(struct plan *p)
{
	const unsigned servers = (unsigned)p->number[0], rails = (unsigned)p->number[1];
	const uint32_t first = p->t->n_nodes;

	for (unsigned r = 0; r < rails; r++)
		add(p, true, "rail%u", r);
	for (unsigned s = 0; s < p->number[2]; s++) {
		const uint32_t spine = add(p, true, "spine%u", s);

		for (unsigned r = 0; r < rails; r++)
			join(p, first + r, spine);
	}
	for (unsigned s = 0; s < servers; s++)
		for (unsigned r = 0; r < rails; r++)
			join(p, add(p, false, "server%u.%u", s, r), first + r);
}

static const struct generator generators[] = {
	{"one-switch", "HOSTS on one switch", {{"hosts", 8, 4096}}, one_switch},
	{"dumbbell",
	 "HOSTS on each of two switches, joined by one link",
	 {{"hosts", 4, 4095}},
	 dumbbell},
	{"leaf-spine",
	 "LEAVES with HOSTS each, every one joined to every of SPINES",
	 {{"leaves", 2, 4096}, {"spines", 2, 4096}, {"hosts", 4, 4096}},
	 leaf_spine},
	{"fat-tree", "of switches with K ports, K * K * K / 4 hosts", {{"k", 4, 64}}, fat_tree},
	{"rail",
	 "SERVERS with a device on each of RAILS, joined by SPINES",
	 {{"servers", 4, 4096}, {"rails", 8, 64}, {"spines", 2, 64}},
	 rail},
};
#define GENERATORS (sizeof(generators) / sizeof(generators[0]))

static const struct generator *find_generator(const char *text, struct fabric_error *e)
{
	const size_t length = fabric_spec_name(text);
	char word[64], said[300];

	for (size_t i = 0; i < GENERATORS; i++)
		if (strlen(generators[i].name) == length &&
		    memcmp(generators[i].name, text, length) == 0)
			return &generators[i];
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	fabric_refuse(e, text, text, "%s",
		      words_refuse(said, sizeof(said), "topology", word, words_row_at,
				   WORDS_ROWS(generators)));
	return NULL;
}

/* Keys: the generator's own first, so that its first may be left out. */
static int read_plan(struct plan *p, const struct generator *g, const char *text,
		     struct fabric_error *e)
{
	struct fabric_spec_key keys[OWN_KEYS + 2 * FABRIC_KEYS_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < OWN_KEYS && g->key[i].name; i++) {
		p->number[i] = g->key[i].usual;
		keys[n++] = (struct fabric_spec_key){g->key[i].name, FABRIC_COUNT, 1, g->key[i].max,
						     &p->number[i]};
	}
	keys[n++] = (struct fabric_spec_key){"uplink", FABRIC_RATE, 1000000,
					     UINT64_C(10000000000000), &p->uplink};
	fabric_link_keys(&p->t->link, keys + n);
	while (keys[n].name)
		n++;
	fabric_switch_keys(&p->t->switch_each, keys + n);
	return fabric_spec_read(text, keys, e);
}

int fabric_topology_generate(struct fabric_topology *t, const char *text, struct fabric_error *e)
{
	const struct generator *g = find_generator(text, e);
	struct plan p = {.t = t};

	if (!g || read_plan(&p, g, text, e) < 0)
		return -EINVAL;
	g->make(&p);
	if (p.status == -ENOMEM)
		return -ENOMEM;
	if (p.status == -EDOM)
		return fabric_refuse(e, text, text, "%s: k is an even number", g->name);
	if (p.status < 0)
		return fabric_refuse(e, text, text,
				     "%s: more than %u nodes, or %u ports of a switch", g->name,
				     FABRIC_NODES_MAX, FABRIC_PORTS_MAX);
	return fabric_topology_check(t, e);
}

void fabric_topology_generators(FILE *out)
{
	for (size_t i = 0; i < GENERATORS; i++) {
		fprintf(out, "  %-12s %s", generators[i].name, generators[i].help);
		for (size_t k = 0; k < OWN_KEYS && generators[i].key[k].name; k++)
			fprintf(out, "%s%s=%u", k ? "," : " (", generators[i].key[k].name,
				(unsigned)generators[i].key[k].usual);
		fputs(")\n", out);
	}
}
