/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes wrong in a network: links and switches that go down and come back, loss, other rates
 * and delays, pauses.
 */
#include "network.h"

static void drop_queues(struct fabric *f, struct port *p, uint64_t now)
{
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		while (p->lane[c].queue.first) {
			struct fabric_packet *k = port_dequeue(p, c);

			if (node_is_switch(&f->nodes[p->node]))
				buffer_release(f, p, k, now);
			fabric_lose(f, p, k, FABRIC_DROP_DOWN);
		}
}

/* Pauses end with the link that they were for, on both ends. */
static void forget_pauses(struct fabric *f, struct port *p, uint64_t now)
{
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		if (p->paused & 1u << c) {
			p->pause.time += now - p->pause.since[c];
			p->pause.ended[c] = now;
		}
	p->paused = 0;
	p->xoff = 0;
	p->pfc_due = false;
	fabric_calendar_set(&f->events, port_slot(f, p, SLOT_PAUSE), FABRIC_NEVER);
}

static void update_port(struct fabric *f, struct port *p, uint64_t now)
{
	const bool down = p->cut || f->nodes[p->node].down || f->nodes[p->far].down;

	if (p->down == down)
		return;
	p->down = down;
	if (!down) {
		port_go(f, p, now);
		return;
	}
	port_clear_link(f, p);
	drop_queues(f, p, now);
	forget_pauses(f, p, now);
}

static void update_link(struct fabric *f, uint32_t link, uint64_t now)
{
	update_port(f, &f->ports[fabric_link_port(link, 0)], now);
	update_port(f, &f->ports[fabric_link_port(link, 1)], now);
}

void fabric_link_up(struct fabric *f, uint32_t link, bool up, uint64_t now)
{
	for (unsigned end = 0; end < 2; end++)
		f->ports[fabric_link_port(link, end)].cut = !up;
	update_link(f, link, now);
}

void fabric_node_up(struct fabric *f, uint32_t node, bool up, uint64_t now)
{
	const struct node *n = &f->nodes[node];

	f->nodes[node].down = !up;
	for (uint32_t i = 0; i < n->n_ports; i++)
		update_link(f, n->ports[i] / 2, now);
}

void fabric_link_loss(struct fabric *f, uint32_t link, uint64_t loss)
{
	for (unsigned end = 0; end < 2; end++) {
		struct port *p = &f->ports[fabric_link_port(link, end)];

		p->link.loss = loss;
		p->lossy = loss || p->link.lose_every;
	}
}

void fabric_link_rate(struct fabric *f, uint32_t link, uint64_t rate)
{
	for (unsigned end = 0; end < 2; end++)
		port_set_rate(f, &f->ports[fabric_link_port(link, end)], rate);
}

void fabric_link_delay(struct fabric *f, uint32_t link, uint64_t delay)
{
	for (unsigned end = 0; end < 2; end++) {
		struct port *p = &f->ports[fabric_link_port(link, end)];

		if (!p->uneven)
			p->last_at = p->busy_until + p->delay;
		p->uneven = true;
		p->delay = p->link.delay = delay;
	}
}

void fabric_host_pause(struct fabric *f, uint32_t host, uint8_t classes, uint64_t now)
{
	pause_set(f, &f->ports[f->places[host].port], classes, now);
}
