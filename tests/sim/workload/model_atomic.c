/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See model.h: were the atomics on a cell executed once each, in some serial order? Each one is an
 * edge from the value it returned to the value it left; an order exists exactly when the edges
 * form one path from the initial to the final value (an Euler path: degrees balance, and all
 * edges hang together).
 */
#include "model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct node {
	uint64_t value;
	int balance;   /* edges out less edges in */
	unsigned root; /* union-find */
	bool used;
};

struct graph {
	struct node *node;
	unsigned n;
};

static unsigned node_of(struct graph *g, uint64_t value)
{
	unsigned i = 0;

	while (i < g->n && g->node[i].value != value)
		i++;
	if (i == g->n)
		g->node[g->n++] = (struct node){.value = value, .root = i};
	return i;
}

static unsigned root_of(struct graph *g, unsigned i)
{
	while (g->node[i].root != i)
		i = g->node[i].root;
	return i;
}

static void add_edge(struct graph *g, uint64_t from, uint64_t to)
{
	unsigned a = node_of(g, from), b = node_of(g, to);

	g->node[a].balance++;
	g->node[b].balance--;
	g->node[a].used = g->node[b].used = true;
	g->node[root_of(g, a)].root = root_of(g, b);
}

static uint64_t left_behind(const struct model_send *s)
{
	if (s->wr.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD)
		return s->returned + s->wr.compare_add;
	return s->returned == s->wr.compare_add ? s->wr.swap : s->returned;
}

static bool is_path(struct graph *g, uint64_t initial, uint64_t final)
{
	unsigned start = node_of(g, initial), end = node_of(g, final);

	g->node[start].balance--;
	g->node[end].balance++;
	for (unsigned i = 0; i < g->n; i++) {
		if (g->node[i].balance)
			return false;
		if (g->node[i].used && root_of(g, i) != root_of(g, start))
			return false;
	}
	return true;
}

static unsigned count_atomics(const struct model *m, const struct model_cell *cell)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_qps; i++)
		for (unsigned k = 0; k < m->qp[i]->n_send; k++)
			n += m->qp[i]->send[k].cell == cell;
	return n;
}

static void check_cell(struct model *m, struct model_cell *cell)
{
	unsigned n = count_atomics(m, cell);
	struct graph g = {calloc(2 * n + 2, sizeof(struct node)), 0};
	uint64_t final;

	assert(g.node);
	memcpy(&final, memory_at(&cell->c->mem, cell->va, 8), 8);
	for (unsigned i = 0; i < m->n_qps; i++)
		for (unsigned k = 0; k < m->qp[i]->n_send; k++) {
			struct model_send *s = &m->qp[i]->send[k];

			if (s->cell == cell)
				add_edge(&g, s->returned, left_behind(s));
		}
	if (!is_path(&g, cell->initial, final))
		world_fail(m->w,
			   "atomics on cell 0x%llx: no serial order explains what %u of them "
			   "returned",
			   (unsigned long long)cell->va, n);
	free(g.node);
}

void model_check_cells(struct model *m)
{
	for (unsigned i = 0; i < m->n_cells; i++)
		if (!m->cell[i].uncertain)
			check_cell(m, &m->cell[i]);
}
