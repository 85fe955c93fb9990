/* SPDX-License-Identifier: BSD-2-Clause */
/* A link filter: drops, doubles or changes chosen packets, and logs all. */
#include "rules.h"

#include <assert.h>
#include <stdlib.h>

static bool matches(const struct rule *rule, const struct world_packet *p)
{
	const struct roce_opcode_info *info = roce_opcode_info(p->pkt.bth.opcode);

	if (p->from != rule->from || info->operation != rule->op)
		return false;
	if (rule->positions && !(rule->positions & 1u << info->position))
		return false;
	return (p->pkt.aeth.syndrome & rule->syndrome_mask) == rule->syndrome;
}

static enum world_verdict apply(struct rules *r, struct world_packet *p)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct rule *rule = &r->rule[i];

		if (!matches(rule, p))
			continue;
		if (rule->seen++ < rule->skip || (rule->count && rule->hits >= rule->count))
			continue;
		rule->hits++;
		p->delay += rule->delay;
		if (rule->change)
			rule->change(p);
		return rule->verdict;
	}
	return WORLD_PASS;
}

static enum world_verdict rules_filter(void *arg, struct world_packet *p)
{
	struct rules *r = arg;
	struct logged entry = {p->now, p->from, p->pkt, apply(r, p)};

	entry.pkt.payload = NULL;
	if (r->n_log == r->log_room) {
		r->log_room = r->log_room ? r->log_room * 2 : 256;
		r->log = realloc(r->log, r->log_room * sizeof *r->log);
		assert(r->log);
	}
	r->log[r->n_log++] = entry;
	return entry.verdict;
}

void rules_attach(struct rules *r, struct world *w)
{
	*r = (struct rules){.world = w};
	w->filter = rules_filter;
	w->filter_arg = r;
}

void rules_detach(struct rules *r)
{
	r->world->filter = NULL;
	free(r->log);
	r->log = NULL;
}

struct rule *rules_add(struct rules *r, const struct rule *rule)
{
	assert(r->n < RULES_MAX);
	r->rule[r->n] = *rule;
	return &r->rule[r->n++];
}

void rules_clear(struct rules *r)
{
	r->n = 0;
}

void rules_check(struct rules *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (!r->rule[i].hits)
			world_fail(r->world, "rule %u never fired", i);
}

const struct logged *rules_nth(const struct rules *r, unsigned from, enum roce_operation op,
			       unsigned n)
{
	for (unsigned i = 0; i < r->n_log; i++) {
		const struct logged *l = &r->log[i];

		if (l->from == from && roce_opcode_info(l->pkt.bth.opcode)->operation == op &&
		    n-- == 0)
			return l;
	}
	return NULL;
}

unsigned rules_count(const struct rules *r, unsigned from, enum roce_operation op)
{
	unsigned n = 0;

	while (rules_nth(r, from, op, n))
		n++;
	return n;
}
