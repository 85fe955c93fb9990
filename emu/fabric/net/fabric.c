/* SPDX-License-Identifier: BSD-2-Clause */
/* A network at work: made of a topology, driven by events. See fabric.h. */
#include "network.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *fabric_drop_name(enum fabric_drop d)
{
	static const char *const name[] = {"buffer", "tail",  "headroom", "loss",
					   "down",   "route", "mtu",      "storm"};

	return name[d];
}

static_assert(offsetof(struct port, packets) == 64, "a packet's line of the cache");
static_assert(sizeof(struct lane) == 64, "a line of the cache");

/* ---- life ---- */

void port_set_rate(const struct fabric *f, struct port *p, uint64_t rate)
{
	const uint64_t bits = UINT64_C(8000000000000);

	p->link.rate = rate;
	p->ps_per_byte = 0;
	if (bits % rate == 0 && bits / rate <= UINT32_MAX)
		p->ps_per_byte = (uint32_t)(bits / rate);
	for (unsigned c = 0; c < FABRIC_CLASSES; c++) {
		const struct fabric_class_settings *s = &f->topology->classes[c];
		const uint64_t per = s->per ? s->per : rate;
		const uint64_t kmin = (uint64_t)((unsigned __int128)s->kmin * rate / per);
		const uint64_t kmax = (uint64_t)((unsigned __int128)s->kmax * rate / per);

		p->lane[c].kmax = (uint32_t)(kmax < FABRIC_MARK_MAX ? kmax : FABRIC_MARK_MAX);
		p->lane[c].kmin = kmin < p->lane[c].kmax ? (uint32_t)kmin : p->lane[c].kmax;
	}
}

static void init_port(struct fabric *f, uint32_t number, uint32_t node,
		      const struct fabric_link_settings *link)
{
	struct port *p = &f->ports[number];

	p->node = node;
	p->far = f->topology->links[number / 2].end[1 - number % 2];
	p->link = *link;
	p->delay = link->delay;
	p->gap = (uint32_t)link->gap;
	p->mtu = (uint32_t)link->mtu;
	p->lossy = link->loss || link->lose_every;
	p->uneven = link->jitter;
	p->wanted = FABRIC_NO_CLASS;
	port_set_rate(f, p, link->rate);
}

static void attach(struct fabric *f, uint32_t port)
{
	const struct fabric_link *l = &f->topology->links[port / 2];
	const struct fabric_node *far = &f->topology->nodes[l->end[1 - port % 2]];
	struct node *n = &f->nodes[f->ports[port].node];

	n->ports[n->n_ports++] = port;
	if (!node_is_switch(n))
		f->places[n->index] =
			(struct place){port, l->end[1 - port % 2], far->index, far->is_switch};
}

static void join_parts(struct fabric *f)
{
	const struct fabric_topology *t = f->topology;
	uint32_t *list = f->port_lists;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const uint64_t salt = t->nodes[i].settings.salt;

		f->nodes[i].of = &t->nodes[i];
		f->nodes[i].index = t->nodes[i].index;
		f->nodes[i].is_switch = t->nodes[i].is_switch;
		f->nodes[i].ports = list;
		f->nodes[i].salt = fabric_mix(salt == FABRIC_AUTO ? i + 1 : salt);
		list += t->nodes[i].ports;
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		init_port(f, i, t->links[i / 2].end[i % 2], &t->links[i / 2].settings);
		attach(f, i);
	}
	for (unsigned c = 0; c < FABRIC_CLASSES; c++) {
		f->lossless |= (uint8_t)(t->classes[c].lossless << c);
		f->strict |= (uint8_t)(t->classes[c].strict << c);
	}
}

/* Each port sends full packets, and each is an event where it arrives and where the next may go. */
static int make_events(struct fabric *f, uint32_t slots)
{
	double rate = 0; /* of events, in a ps */
	uint64_t span = 0;

	for (uint32_t i = 0; i < f->topology->n_links; i++) {
		const struct fabric_link_settings *l = &f->topology->links[i].settings;
		const double packet = (double)(l->mtu + l->gap) * 8e12 / (double)l->rate;
		const double whole = (double)l->delay + packet;

		rate += 2 * 2 / packet;
		if (whole < 1e18 && (uint64_t)whole > span)
			span = (uint64_t)whole;
	}
	return fabric_calendar_init(&f->events, slots, rate * 1e18 > 1 ? (uint64_t)(1 / rate) : 0,
				    2 * span);
}

static int allocate(struct fabric *f, uint32_t timers)
{
	const struct fabric_topology *t = f->topology;
	const uint32_t slots = f->n_ports * PORT_SLOTS + timers;

	if (slots > FABRIC_SLOTS_MAX)
		return -ENOMEM;
	f->ports = aligned_alloc(_Alignof(struct port), f->n_ports * sizeof(*f->ports));
	f->nodes = aligned_alloc(_Alignof(struct node), t->n_nodes * sizeof(*f->nodes));
	f->port_lists = calloc(f->n_ports, sizeof(*f->port_lists));
	f->places = calloc(t->n_hosts, sizeof(*f->places));
	if (!f->ports || !f->nodes || !f->port_lists || !f->places)
		return -ENOMEM;
	memset(f->ports, 0, f->n_ports * sizeof(*f->ports));
	memset(f->nodes, 0, t->n_nodes * sizeof(*f->nodes));
	if (make_events(f, slots) < 0)
		return -ENOMEM;
	f->events.near = ahead_near;
	f->events.user = f;
	return 0;
}

int fabric_create(struct fabric **out, const struct fabric_start *start, struct fabric_error *e)
{
	struct fabric *f;
	int status = fabric_topology_check(start->topology, e);

	if (status < 0)
		return status;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->topology = start->topology;
	f->n_ports = 2 * start->topology->n_links;
	f->random = start->seed;
	f->ops = start->ops;
	f->user = start->user;
	fabric_store_init(&f->store);
	status = allocate(f, start->timers);
	if (status == 0)
		join_parts(f);
	for (uint32_t i = 0; i < f->topology->n_nodes && status == 0; i++)
		if (node_is_switch(&f->nodes[i]))
			status = buffer_init(f, &f->nodes[i], e);
	if (status == 0)
		status = fabric_reroute(f);
	if (status < 0)
		fabric_destroy(f);
	else
		*out = f;
	return status;
}

void fabric_destroy(struct fabric *f)
{
	if (!f)
		return;
	routes_free(f->routes);
	fabric_calendar_fini(&f->events);
	fabric_store_fini(&f->store);
	free(f->port_lists);
	free(f->places);
	free(f->ports);
	free(f->nodes);
	free(f);
}

int fabric_reroute(struct fabric *f)
{
	struct routes *fresh;
	const int status = routes_make(f, &fresh);

	if (status < 0)
		return status;
	routes_free(f->routes);
	f->routes = fresh;
	return 0;
}

/* ---- hosts ---- */

struct fabric_packet *fabric_packet_get(struct fabric *f)
{
	return fabric_store_get(&f->store);
}

void fabric_packet_put(struct fabric *f, struct fabric_packet *p)
{
	fabric_store_put(&f->store, p);
}

uint32_t fabric_flow_key(uint32_t src, uint32_t dst, uint16_t sport)
{
	return (uint32_t)(fabric_mix(fabric_mix((uint64_t)src << 32 | dst) + sport) >> 16);
}

void fabric_send(struct fabric *f, uint32_t host, struct fabric_packet *p, uint64_t now)
{
	struct port *port = &f->ports[f->places[host].port];

	if (port->down) {
		fabric_lose(f, port, p, FABRIC_DROP_DOWN);
		return;
	}
	port_enqueue(port, p);
	port_go(f, port, now);
}

bool fabric_idle(const struct fabric *f, uint32_t host, unsigned class, uint64_t now)
{
	const struct port *p = &f->ports[f->places[host].port];

	return !p->down && p->busy_until <= now && !p->pfc_due &&
	       !((p->nonempty | p->paused) & 1u << class);
}

void fabric_want(struct fabric *f, uint32_t host, unsigned class, uint64_t now)
{
	struct port *p = &f->ports[f->places[host].port];

	p->wanted = (uint8_t) class;
	if (class != FABRIC_NO_CLASS)
		port_go(f, p, now);
}

uint64_t fabric_host_rate(const struct fabric *f, uint32_t host)
{
	return f->ports[f->places[host].port].link.rate;
}

void fabric_timer(struct fabric *f, uint32_t number, uint64_t time)
{
	fabric_calendar_set(&f->events, f->n_ports * PORT_SLOTS + number, time);
}

/* ---- events ---- */

static void forward(struct fabric *f, struct node *n, struct port *in, struct fabric_packet *k,
		    uint64_t now)
{
	struct port *out = routes_next(f, n, k->dst, k->flow);
	const unsigned class = k->class;

	if (!out) {
		fabric_lose(f, in, k, FABRIC_DROP_ROUTE);
		return;
	}
	if (out->down || out->stormed & 1u << class) {
		fabric_lose(f, out, k, out->down ? FABRIC_DROP_DOWN : FABRIC_DROP_STORM);
		return;
	}
	if (!buffer_admit(f, n, in, out, k))
		return;
	port_enqueue(out, k);
	if (f->lossless & 1u << class)
		buffer_judge(f, in, class, now);
	port_go(f, out, now);
}

static void arrive(struct fabric *f, struct port *from, uint64_t now)
{
	struct fabric_packet *k = port_arrive(f, from);
	struct port *in = port_peer(f, from);
	struct node *n = &f->nodes[from->far];

	if (k->class == FABRIC_PFC) {
		pause_receive(f, in, k, now);
		fabric_store_put(&f->store, k);
	} else if (node_is_switch(n)) {
		forward(f, n, in, k, now);
	} else if (n->index == k->dst) {
		f->counters.delivered++;
		f->ops->deliver(f->user, k->dst, k, now);
	} else {
		fabric_lose(f, in, k, FABRIC_DROP_ROUTE);
	}
}

static void port_event(struct fabric *f, struct port *p, enum port_slot what, uint64_t now)
{
	switch (what) {
	case SLOT_ARRIVE:
		arrive(f, p, now);
		return;
	case SLOT_FREE:
		port_go(f, p, now);
		return;
	case SLOT_PAUSE:
		pause_due(f, p, now);
		return;
	case SLOT_WATCH:
		pause_watch(f, p, now);
		return;
	case PORT_SLOTS:
		return;
	}
}

uint64_t fabric_next(const struct fabric *f)
{
	return fabric_calendar_next(&f->events);
}

void fabric_run(struct fabric *f, uint64_t until)
{
	const uint32_t port_slots = f->n_ports * PORT_SLOTS;
	fabric_event e;

	while (fabric_calendar_take(&f->events, until, &e)) {
		const uint64_t now = fabric_event_time(e);
		const uint32_t slot = fabric_event_slot(e);

		f->counters.events++;
		if (slot < port_slots)
			port_event(f, &f->ports[slot / PORT_SLOTS], slot % PORT_SLOTS, now);
		else
			f->ops->timer(f->user, slot - port_slots, now);
	}
}
