/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port: queues of classes, which of them sends next, and the link. One event for each packet that
 * arrives; one more where packets wait for the packet before them. ECN marks are set when a packet
 * leaves its queue, by what stays behind it.
 */
#include "network.h"

void port_enqueue(struct port *p, struct fabric_packet *k)
{
	struct lane *l = &p->lane[k->class];

	k->next = NULL;
	if (l->queue.first)
		l->queue.last->next = k;
	else
		l->queue.first = k;
	l->queue.last = k;
	l->bytes += k->bytes;
	l->bytes_max = l->bytes > l->bytes_max ? l->bytes : l->bytes_max;
	p->nonempty |= (uint8_t)(1u << k->class);
}

struct fabric_packet *port_dequeue(struct port *p, unsigned class)
{
	struct lane *l = &p->lane[class];
	struct fabric_packet *k = l->queue.first;

	l->queue.first = k->next;
	l->bytes -= k->bytes;
	if (!k->next) {
		p->nonempty &= (uint8_t) ~(1u << class);
		l->deficit = 0;
	}
	return k;
}

void fabric_lose(struct fabric *f, struct port *p, struct fabric_packet *k, enum fabric_drop why)
{
	if (k->class != FABRIC_PFC) {
		f->counters.dropped[why]++;
		p->dropped++;
		if (f->ops->lost)
			f->ops->lost(f->user, (uint32_t)(p - f->ports), k, why);
	}
	fabric_store_put(&f->store, k);
}

/* ---- which class sends ---- */

static unsigned highest(unsigned mask)
{
	return 31u - (unsigned)__builtin_clz(mask);
}

/* Deficit round robin (Shreedhar, Varghese 1995): a quantum is weight times the link's MTU. */
static unsigned round_robin(struct fabric *f, struct port *p, unsigned mask)
{
	for (;;) {
		const unsigned c = p->round;

		if (mask & 1u << c) {
			if (!p->fresh)
				p->lane[c].deficit += f->topology->classes[c].weight * p->link.mtu;
			p->fresh = true;
			if (p->lane[c].deficit >= p->lane[c].queue.first->bytes) {
				p->lane[c].deficit -= p->lane[c].queue.first->bytes;
				return c;
			}
		}
		p->round = (uint8_t)((c + 1) % FABRIC_CLASSES);
		p->fresh = false;
	}
}

static struct fabric_packet *next_packet(struct fabric *f, struct port *p)
{
	const unsigned mask = p->nonempty & (unsigned)~p->paused;

	if (!mask)
		return NULL;
	if (mask & f->strict)
		return port_dequeue(p, highest(mask & f->strict));
	if (!(mask & (mask - 1)))
		return port_dequeue(p, highest(mask));
	return port_dequeue(p, round_robin(f, p, mask));
}

/* ---- the link ---- */

static void mark(struct fabric *f, struct port *p, struct fabric_packet *k)
{
	const uint64_t kmin = p->lane[k->class].kmin, kmax = p->lane[k->class].kmax;
	const uint64_t queued = p->lane[k->class].bytes;

	if (!kmin || queued <= kmin || k->ecn != FABRIC_ECT)
		return;
	if (queued <= kmax &&
	    !fabric_random_chance(&f->random, (queued - kmin) *
						      f->topology->classes[k->class].pmax /
						      (kmax - kmin)))
		return;
	k->ecn = FABRIC_CE;
	p->marked++;
	f->counters.marked++;
}

static bool is_lost(struct fabric *f, struct port *p)
{
	if (p->link.lose_every && p->packets % p->link.lose_every == 0)
		return true;
	return p->link.loss && fabric_random_chance(&f->random, p->link.loss);
}

/* Behind those before it. */
static uint64_t uneven_arrival(struct fabric *f, struct port *p, uint64_t at)
{
	if (p->link.jitter)
		at += fabric_random(&f->random) % (p->link.jitter + 1);
	if (p->on_link.first && at < p->last_at)
		at = p->last_at;
	p->last_at = at;
	return at;
}

/* The packet is on its way. The one before it knows when it arrives. */
static void put_on_link(struct fabric *f, struct port *p, struct fabric_packet *k)
{
	uint64_t at = p->busy_until + p->delay;

	if (p->uneven)
		at = uneven_arrival(f, p, at);
	k->next = NULL;
	if (p->on_link.first) {
		p->on_link.last->next = k;
		p->on_link.last->next_at = at;
	} else {
		p->on_link.first = k;
		fabric_calendar_set(&f->events, port_slot(f, p, SLOT_ARRIVE), at);
	}
	p->on_link.last = k;
}

/* Who looks at what the port sends; false: it gets lost. */
static bool watch(struct fabric *f, struct port *p, struct fabric_packet *k, uint64_t now)
{
	const uint32_t number = (uint32_t)(p - f->ports);
	const bool stays = !(p->watched & PORT_JUDGED) || f->ops->judge(f->user, number, k, now);

	if (p->watched & PORT_TAPPED)
		f->ops->sent(f->user, number, k, now);
	return stays;
}

static void transmit(struct fabric *f, struct port *p, struct fabric_packet *k, uint64_t now)
{
	p->busy_until = now + port_time(p, k->bytes);
	if (k->class == FABRIC_PFC) {
		put_on_link(f, p, k);
		return;
	}
	f->counters.hops++;
	p->packets++;
	p->bytes += k->bytes;
	if (p->watched && !watch(f, p, k, now))
		fabric_lose(f, p, k, FABRIC_DROP_LOSS);
	else if (k->bytes > p->mtu)
		fabric_lose(f, p, k, FABRIC_DROP_MTU);
	else if (p->lossy && is_lost(f, p))
		fabric_lose(f, p, k, FABRIC_DROP_LOSS);
	else
		put_on_link(f, p, k);
}

struct fabric_packet *port_arrive(struct fabric *f, struct port *p)
{
	struct fabric_packet *k = p->on_link.first;

	p->on_link.first = k->next;
	fabric_calendar_set(&f->events, port_slot(f, p, SLOT_ARRIVE),
			    k->next ? k->next_at : FABRIC_NEVER);
	return k;
}

void port_clear_link(struct fabric *f, struct port *p)
{
	while (p->on_link.first)
		fabric_lose(f, p, port_arrive(f, p), FABRIC_DROP_DOWN);
}

/* ---- sending ---- */

static void wait_free(struct fabric *f, struct port *p)
{
	const uint32_t slot = port_slot(f, p, SLOT_FREE);

	if (!fabric_calendar_is_set(&f->events, slot))
		fabric_calendar_set(&f->events, slot, p->busy_until);
}

/* Something, or nothing that may leave. */
static struct fabric_packet *take_packet(struct fabric *f, struct port *p, uint64_t now)
{
	struct fabric_packet *k;

	if (p->pfc_due && (k = pause_frame(f, p, now)))
		return k;
	k = next_packet(f, p);
	if (!k || !node_is_switch(&f->nodes[p->node]))
		return k;
	buffer_release(f, p, k, now);
	mark(f, p, k);
	return k;
}

static bool wants_more(const struct port *p)
{
	return (p->nonempty & (unsigned)~p->paused) || p->pfc_due ||
	       (p->wanted < FABRIC_CLASSES && !(p->paused & 1u << p->wanted));
}

/* A host that asked is told, once; it sends during the call, or asks again. */
static void notify_host(struct fabric *f, struct port *p, uint64_t now)
{
	const struct node *n = &f->nodes[p->node];

	if (p->wanted == FABRIC_NO_CLASS || p->paused & 1u << p->wanted)
		return;
	p->wanted = FABRIC_NO_CLASS;
	f->ops->ready(f->user, n->index, now);
}

void port_go(struct fabric *f, struct port *p, uint64_t now)
{
	struct fabric_packet *k;

	if (p->down)
		return;
	if (p->busy_until > now) {
		wait_free(f, p);
		return;
	}
	k = take_packet(f, p, now);
	if (k) {
		transmit(f, p, k, now);
		if (wants_more(p))
			wait_free(f, p);
	} else {
		notify_host(f, p, now);
	}
}
