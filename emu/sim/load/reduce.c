/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All-reduce. Ring: 2 (n - 1) steps, in each of which every rank sends 1/n of the data to the
 * next one; a rank's next step waits for the chunk of the one before it. Tree: chunks go up a
 * binary tree and come down again, one behind the other. Ranks are hosts. Reducing takes no time.
 */
#include "loads.h"

#include <errno.h>
#include <stdlib.h>

enum { SIZE, COUNT, CHUNKS };

#define COMMON_KEYS                                                                                \
	{"size", FABRIC_BYTES, 10000000, 1, LOAD_ENDLESS},                                         \
	{                                                                                          \
		"count", FABRIC_COUNT, 1, 1, 1000000                                               \
	}

static int allocate(struct load *l, uint32_t edges)
{
	l->n = edges;
	l->edges = calloc(edges, sizeof(struct sim_connection *));
	l->sent = calloc(edges, sizeof(*l->sent));
	l->got = calloc(edges, sizeof(*l->got));
	return l->edges && l->sent && l->got ? 0 : -ENOMEM;
}

static void begin_round(struct load *l, uint32_t open, uint64_t now)
{
	for (uint32_t i = 0; i < l->n; i++)
		l->sent[i] = l->got[i] = 0;
	l->open = open;
	l->began = now;
}

/* True: all edges have got all, and there is another round. */
static bool end_round(struct load_set *set, struct load *l, uint64_t now)
{
	set->finished(set->user, NULL, l->began, now);
	return ++l->rounds < l->value[COUNT] && now < set->stop;
}

static void send_chunk(struct load_set *set, struct load *l, uint32_t edge, uint64_t bytes,
		       uint64_t now)
{
	l->sent[edge]++;
	sim_message(set->sim, l->edges[edge], bytes ? bytes : 1, now);
}

/* ---- ring: edge r goes from rank r to the next ---- */

static uint32_t ring_steps(const struct load *l)
{
	return 2 * (l->n - 1);
}

static void ring_try(struct load_set *set, struct load *l, uint32_t r, uint64_t now)
{
	const uint32_t before = (r + l->n - 1) % l->n;

	if (l->sent[r] < ring_steps(l) && l->got[before] >= l->sent[r] && !l->edges[r]->active)
		send_chunk(set, l, r, l->value[SIZE] / l->n, now);
}

static int ring_start(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t n = load_hosts(set);
	int status = allocate(l, n);

	(void)e;
	for (uint32_t r = 0; r < n && status == 0; r++) {
		l->edges[r] = load_open(set, l, r, (r + 1) % n, r);
		status = l->edges[r] ? 0 : -ENOMEM;
	}
	if (status < 0)
		return status;
	begin_round(l, n, 0);
	for (uint32_t r = 0; r < n; r++)
		ring_try(set, l, r, 0);
	return 0;
}

static void ring_received(struct load_set *set, struct load *l, struct sim_connection *c,
			  uint64_t now)
{
	if (++l->got[c->tag] == ring_steps(l) && --l->open == 0) {
		if (!end_round(set, l, now))
			return;
		begin_round(l, l->n, now);
		for (uint32_t r = 0; r < l->n; r++)
			ring_try(set, l, r, now);
		return;
	}
	ring_try(set, l, (c->tag + 1) % l->n, now);
}

static void ring_done(struct load_set *set, struct load *l, struct sim_connection *c, uint64_t now)
{
	ring_try(set, l, c->tag, now);
}

const struct load_kind load_ring = {
	.name = "ring",
	.help = "all-reduce of SIZE bytes around a ring of all hosts",
	.key = {COMMON_KEYS},
	.start = ring_start,
	.received = ring_received,
	.done = ring_done,
};

/* ---- tree: edge 2r goes from rank r up to its parent, edge 2r + 1 down to it ---- */

static uint32_t chunks_from_children(const struct load *l, uint32_t r)
{
	uint32_t n = (uint32_t)l->value[CHUNKS];

	for (uint32_t child = 2 * r + 1; child <= 2 * r + 2 && 2 * child < l->n; child++)
		n = l->got[2 * child] < n ? l->got[2 * child] : n;
	return n;
}

static void tree_edge(struct load_set *set, struct load *l, uint32_t edge, uint32_t may,
		      uint64_t now)
{
	if (l->sent[edge] < may && !l->edges[edge]->active)
		send_chunk(set, l, edge, l->value[SIZE] / l->value[CHUNKS], now);
}

/* Whatever the rank may send now. */
static void tree_try(struct load_set *set, struct load *l, uint32_t r, uint64_t now)
{
	const uint32_t up = chunks_from_children(l, r);
	const uint32_t down = r ? l->got[2 * r + 1] : up;

	if (r)
		tree_edge(set, l, 2 * r, up, now);
	for (uint32_t child = 2 * r + 1; child <= 2 * r + 2 && 2 * child < l->n; child++)
		tree_edge(set, l, 2 * child + 1, down, now);
}

static void tree_begin(struct load_set *set, struct load *l, uint64_t now)
{
	begin_round(l, l->n / 2 - 1, now);
	for (uint32_t r = 0; r < l->n / 2; r++)
		tree_try(set, l, r, now);
}

static int tree_start(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t n = load_hosts(set);
	int status = allocate(l, 2 * n);

	(void)e;
	for (uint32_t r = 1; r < n && status == 0; r++) {
		l->edges[2 * r] = load_open(set, l, r, (r - 1) / 2, 2 * r);
		l->edges[2 * r + 1] = load_open(set, l, (r - 1) / 2, r, 2 * r + 1);
		status = l->edges[2 * r] && l->edges[2 * r + 1] ? 0 : -ENOMEM;
	}
	if (status == 0)
		tree_begin(set, l, 0);
	return status;
}

static void tree_received(struct load_set *set, struct load *l, struct sim_connection *c,
			  uint64_t now)
{
	const bool down = c->tag % 2;

	if (++l->got[c->tag] == l->value[CHUNKS] && down && --l->open == 0) {
		if (end_round(set, l, now))
			tree_begin(set, l, now);
		return;
	}
	tree_try(set, l, c->dst, now);
}

static void tree_done(struct load_set *set, struct load *l, struct sim_connection *c, uint64_t now)
{
	tree_try(set, l, c->src, now);
}

const struct load_kind load_tree = {
	.name = "tree",
	.help = "all-reduce of SIZE bytes up and down a binary tree of all hosts",
	.key = {COMMON_KEYS, {"chunks", FABRIC_COUNT, 16, 1, 100000}},
	.start = tree_start,
	.received = tree_received,
	.done = tree_done,
};
