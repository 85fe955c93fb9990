/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules do to links, switches and hosts of the modelled network. Their durations are of the
 * network's time, as its delays are, and as the timeouts of the devices are that live in it.
 */
#include "emu/fault/rule/rules.h"
#include "emu/io/base/base.h"
#include "emu/io/network/network.h"
#include "emu/io/serve/serve.h"
#include "fault_fleet.h"

#define PS_PER_NS 1000

static void goes_down(struct io_network_change *c, const struct fault_value *v)
{
	c->failure.what = FABRIC_GOES_DOWN;
	c->last = v->number;
	c->rest = v->number2;
	c->times = v->times;
}

/* What an action does to the part, which is filled in already. */
static void fill(struct io_network_change *c, enum fault_action a, const struct fault_value *v)
{
	c->failure.value = v->number;
	c->last = v->time;
	if (a == FAULT_LINK_RATE) {
		c->failure.what = FABRIC_SLOWS;
	} else if (a == FAULT_LINK_DELAY) {
		c->failure.what = FABRIC_DELAYS;
		c->failure.value = v->number * PS_PER_NS;
	} else if (a == FAULT_LINK_LOSS) {
		c->failure.what = FABRIC_LOSES;
	} else if (a == FAULT_HOST_PAUSE) {
		c->failure.what = FABRIC_PAUSES;
		c->last = v->number;
	} else {
		goes_down(c, v);
	}
}

/* The next part that the globs name, from number *next on. Its name; NULL: there are no more. */
static const char *next_part(struct io_network *n, const struct fault_rule *r, unsigned *next,
			     struct fabric_failure *f)
{
	const enum fault_part kind = fault_action_part(r->action);
	const char *name;

	for (;;) {
		const unsigned i = (*next)++;

		f->link = kind == FAULT_PART_LINK ? i / IO_NETWORK_LINK_NAMES : UINT32_MAX;
		name = kind == FAULT_PART_LINK
			       ? io_network_link_name(n, i)
			       : io_network_node_name(n, kind == FAULT_PART_SWITCH, i, &f->node);
		if (!name || fault_glob_any(r->value.parts, name))
			break;
	}
	if (f->link != UINT32_MAX) /* its other names are of the same link */
		*next = (f->link + 1) * IO_NETWORK_LINK_NAMES;
	return name;
}

unsigned io_fault_parts(const struct io_faults *f, const struct fault_rule *r)
{
	struct fabric_failure failure;
	unsigned next = 0, n = 0;

	while (next_part(f->env.network, r, &next, &failure))
		n++;
	return n;
}

IO_FAULT_HAPPENING(io_fault_network)
{
	const struct fault_rule r = {.action = p->action, .value = p->value};
	struct io_network_change c = {.last = 0};
	const char *name;
	unsigned next = 0;

	if (!f->env.network)
		return;
	while ((name = next_part(f->env.network, &r, &next, &c.failure))) {
		fill(&c, p->action, &p->value);
		io_log(IO_LOG_INFO, "rule %u: %s %s", p->rule, fault_action_name(p->action), name);
		io_network_change(f->env.network, &c, now);
	}
}

/* ---- at a port of a switch ---- */

/* What is known of the packet's sender, and what its headers say. */
static void fill_subject(struct fault_subject *s, const struct io_network_hop *hop,
			 struct roce_packet *pkt)
{
	struct core_qp_look look = {0};
	uint32_t offset;

	core_burst_packet(hop->burst, 0, pkt, &offset);
	if (hop->burst->model.qpn)
		core_look_at_qp(hop->from->core, hop->burst->model.qpn, &look);
	io_fault_subject(s, FAULT_LAYER_HOP, hop->from, look.client);
	s->port = hop->port;
	s->direction = FAULT_TX;
	s->pkt = pkt;
	s->flow = &hop->burst->flow;
	s->peer_qpn = pkt->bth.dest_qp;
	s->length = pkt->payload_len;
	s->qpn = hop->burst->model.qpn;
	s->srq = look.srq;
}

static void judge(void *user, struct io_network_hop *hop, uint64_t now)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct io_faults *f = user;
	struct fault_subject s;
	struct roce_packet pkt;
	unsigned n;

	fill_subject(&s, hop, &pkt);
	n = io_faults_decide(f, hop->from, &s, now, hit);
	for (unsigned i = 0; i < n; i++) {
		hop->lost |= fault_action_swallows(hit[i]->rule.action);
		hop->marked |= hit[i]->rule.action == FAULT_ECN;
	}
}

void io_fault_network_watch(struct io_faults *f)
{
	const bool watched = io_faults_watch(f, FAULT_LAYER_HOP);

	if (f->env.network && watched != f->judges)
		io_network_on_hop(f->env.network, watched ? judge : NULL, f);
	f->judges = watched;
}
