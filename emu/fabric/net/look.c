/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking into a network: counters, ports, paths, and circles of paused queues. */
#include "network.h"

/* Also of pauses that go on. */
static uint64_t pause_time(const struct port *p, uint64_t now)
{
	uint64_t all = p->pause.time;

	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		if (p->paused & 1u << c)
			all += now - p->pause.since[c];
	return all;
}

void fabric_count(struct fabric *f, uint64_t now, struct fabric_counters *out)
{
	*out = f->counters;
	for (uint32_t i = 0; i < f->n_ports; i++)
		out->paused += pause_time(&f->ports[i], now);
}

uint32_t fabric_ports(const struct fabric *f)
{
	return f->n_ports;
}

void fabric_port(const struct fabric *f, uint32_t port, uint64_t now, struct fabric_port_state *out)
{
	const struct port *p = &f->ports[port];
	const struct node *n = &f->nodes[p->node];

	*out = (struct fabric_port_state){
		.node = n->of->name,
		.peer = f->nodes[f->ports[port ^ 1u].node].of->name,
		.is_switch = node_is_switch(n),
		.paused = p->paused,
		.rate = p->link.rate,
		.delay = p->delay,
		.loss = p->link.loss,
		.packets = p->packets,
		.bytes = p->bytes,
		.marked = p->marked,
		.dropped = p->dropped,
		.xoff = p->pause.xoffs,
		.pause_time = pause_time(p, now),
	};
	for (unsigned c = 0; c < FABRIC_CLASSES; c++) {
		out->queued += p->lane[c].bytes;
		if (p->lane[c].bytes_max > out->queue_max)
			out->queue_max = p->lane[c].bytes_max;
	}
}

uint64_t fabric_queued(const struct fabric *f, uint32_t port, unsigned class)
{
	return f->ports[port].lane[class].bytes;
}

bool fabric_port_up(const struct fabric *f, uint32_t port)
{
	return !f->ports[port].down;
}

void fabric_tap(struct fabric *f, uint32_t port, bool on)
{
	f->ports[port].watched &= (uint8_t)~PORT_TAPPED;
	f->ports[port].watched |= on ? PORT_TAPPED : 0;
}

void fabric_judge(struct fabric *f, uint32_t port, bool on)
{
	f->ports[port].watched &= (uint8_t)~PORT_JUDGED;
	f->ports[port].watched |= on ? PORT_JUDGED : 0;
}

bool fabric_is_switch_port(const struct fabric *f, uint32_t port)
{
	return node_is_switch(&f->nodes[f->ports[port].node]);
}

unsigned fabric_path(const struct fabric *f, const uint32_t hosts[2], uint32_t flow,
		     uint32_t *links, unsigned n)
{
	const struct port *p = &f->ports[f->places[hosts[0]].port];
	unsigned used = 0;

	while (used < n && !p->down) {
		const uint32_t far = (uint32_t)(p - f->ports) ^ 1u;
		const struct node *to = &f->nodes[f->ports[far].node];

		links[used++] = far / 2;
		if (!node_is_switch(to))
			return to->index == hosts[1] ? used : 0;
		p = routes_next(f, to, hosts[1], flow);
		if (!p)
			return 0;
	}
	return 0;
}

/* ---- deadlock ---- */

static bool stuck(const struct port *p, unsigned class, uint64_t now, uint64_t age)
{
	return p->paused & 1u << class && p->nonempty & 1u << class &&
	       p->pause.since[class] + age <= now;
}

struct search {
	struct fabric *f;
	uint64_t now, age;
	unsigned class;
	uint32_t *ports;
	unsigned used, max;
};

static bool holds(const struct port *p, unsigned class, uint32_t from)
{
	for (const struct fabric_packet *k = p->lane[class].queue.first; k; k = k->next)
		if (k->from_port == from)
			return true;
	return false;
}

/*
 * The peer paused the port on top because packets that came from it wait there: in which queue that
 * is stuck, too? Depth first: one that is on the way already closes the circle, which then is all
 * there is; one that was seen before has led nowhere.
 */
static bool follow(struct search *s)
{
	const struct port *in = &s->f->ports[s->ports[s->used - 1] ^ 1u];
	const struct node *n = &s->f->nodes[in->node];

	for (uint32_t i = 0; i < n->n_ports && node_is_switch(n); i++) {
		const uint32_t next = n->ports[i];
		unsigned first = 0;

		if (!stuck(&s->f->ports[next], s->class, s->now, s->age) ||
		    !holds(&s->f->ports[next], s->class, (uint32_t)(in - s->f->ports)))
			continue;
		while (first < s->used && s->ports[first] != next)
			first++;
		if (first < s->used) {
			s->used -= first;
			for (unsigned k = 0; k < s->used; k++)
				s->ports[k] = s->ports[k + first];
			return true;
		}
		if (s->used == s->max || s->f->ports[next].pause.seen == s->f->searches)
			continue;
		s->f->ports[next].pause.seen = s->f->searches;
		s->ports[s->used++] = next;
		if (follow(s))
			return true;
		s->used--;
	}
	return false;
}

unsigned fabric_deadlock(struct fabric *f, uint64_t now, uint64_t age, uint32_t *ports, unsigned n)
{
	for (unsigned c = 0; c < FABRIC_CLASSES && n; c++) {
		f->searches++;
		for (uint32_t i = 0; i < f->n_ports; i++) {
			struct search s = {f, now, age, c, ports, 1, n};

			if (!node_is_switch(&f->nodes[f->ports[i].node]) ||
			    f->ports[i].pause.seen == f->searches ||
			    !stuck(&f->ports[i], c, now, age))
				continue;
			f->ports[i].pause.seen = f->searches;
			ports[0] = i;
			if (follow(&s))
				return s.used;
		}
	}
	return 0;
}
