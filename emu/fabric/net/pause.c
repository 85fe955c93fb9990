/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Priority flow control (IEEE 802.1Qbb): a port that pauses its peer repeats the frame before the
 * peer's pause runs out; a pause that nobody repeats ends by itself. The watchdog drops queues that
 * were paused for too long, until they are not paused any more.
 */
#include "network.h"

#define QUANTUM_BITS 512u

/* How long a PFC frame pauses: a port's peer has the same rate. FABRIC_NEVER: for ever. */
static uint64_t pause_length(const struct fabric *f, const struct port *p)
{
	if (!f->topology->pause_quanta)
		return FABRIC_NEVER;
	return f->topology->pause_quanta * QUANTUM_BITS * UINT64_C(1000000000000) / p->link.rate;
}

static uint64_t later(uint64_t now, uint64_t length)
{
	return length == FABRIC_NEVER ? FABRIC_NEVER : now + length;
}

/* The first of what the pauses of a port wait for. */
static void wait_pause(struct fabric *f, struct port *p)
{
	uint64_t first = p->xoff ? p->pause.refresh_at : FABRIC_NEVER;

	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		if (p->paused & 1u << c && p->pause.until[c] < first)
			first = p->pause.until[c];
	fabric_calendar_set(&f->events, port_slot(f, p, SLOT_PAUSE), first);
}

void pause_set(struct fabric *f, struct port *p, uint8_t xoff, uint64_t now)
{
	const uint8_t added = xoff & (uint8_t)~p->xoff, gone = p->xoff & (uint8_t)~xoff;

	f->counters.xoff += (unsigned)__builtin_popcount(added);
	f->counters.xon += (unsigned)__builtin_popcount(gone);
	port_peer(f, p)->pause.xoffs += (unsigned)__builtin_popcount(added);
	p->xoff = xoff;
	p->pfc_due = true;
	port_go(f, p, now);
}

struct fabric_packet *pause_frame(struct fabric *f, struct port *p, uint64_t now)
{
	struct fabric_packet *k = fabric_store_get(&f->store);

	if (!k)
		return NULL;
	*k = (struct fabric_packet){
		.bytes = FABRIC_PFC_BYTES, .class = FABRIC_PFC, .flags = p->xoff};
	p->pfc_due = false;
	p->pause.refresh_at = later(now, pause_length(f, p) / 2);
	wait_pause(f, p);
	return k;
}

static void resume(struct port *p, unsigned c, uint64_t now)
{
	p->paused &= (uint8_t) ~(1u << c);
	p->pause.ended[c] = now;
	p->pause.time += now - p->pause.since[c];
}

void pause_receive(struct fabric *f, struct port *p, const struct fabric_packet *k, uint64_t now)
{
	const uint64_t until = later(now, pause_length(f, p));

	for (unsigned c = 0; c < FABRIC_CLASSES; c++) {
		const bool on = k->flags & 1u << c;

		if (!on && p->paused & 1u << c)
			resume(p, c, now);
		if (on && !(p->paused & 1u << c)) {
			p->paused |= (uint8_t)(1u << c);
			p->pause.since[c] = now;
		}
		if (on)
			p->pause.until[c] = until;
	}
	wait_pause(f, p);
	pause_watch_later(f, p, now);
	port_go(f, p, now);
}

void pause_due(struct fabric *f, struct port *p, uint64_t now)
{
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		if (p->paused & 1u << c && p->pause.until[c] <= now)
			resume(p, c, now);
	if (p->xoff && p->pause.refresh_at <= now) {
		p->pause.refresh_at = FABRIC_NEVER;
		p->pfc_due = true;
	}
	wait_pause(f, p);
	port_go(f, p, now);
}

/* ---- the watchdog ---- */

static const struct fabric_switch_settings *settings_of(const struct fabric *f,
							const struct port *p)
{
	return &f->nodes[p->node].of->settings;
}

static uint64_t restore_time(const struct fabric_switch_settings *s)
{
	return s->restore ? s->restore : 2 * s->watchdog;
}

void pause_watch_later(struct fabric *f, struct port *p, uint64_t now)
{
	const struct fabric_switch_settings *s = settings_of(f, p);
	uint64_t first = FABRIC_NEVER;

	if (!node_is_switch(&f->nodes[p->node]) || !s->watchdog)
		return;
	for (unsigned c = 0; c < FABRIC_CLASSES; c++) {
		uint64_t at = FABRIC_NEVER;

		if (p->stormed & 1u << c)
			at = p->paused & 1u << c ? now + restore_time(s)
						 : p->pause.ended[c] + restore_time(s);
		else if (p->paused & 1u << c)
			at = p->pause.since[c] + s->watchdog;
		if (at <= now)
			at = now + s->watchdog;
		first = at < first ? at : first;
	}
	fabric_calendar_set(&f->events, port_slot(f, p, SLOT_WATCH), first);
}

static void drop_queue(struct fabric *f, struct port *p, unsigned class, uint64_t now)
{
	while (p->lane[class].queue.first) {
		struct fabric_packet *k = port_dequeue(p, class);

		buffer_release(f, p, k, now);
		fabric_lose(f, p, k, FABRIC_DROP_STORM);
	}
}

static void watch_class(struct fabric *f, struct port *p, unsigned c, uint64_t now)
{
	const struct fabric_switch_settings *s = settings_of(f, p);
	const uint8_t bit = (uint8_t)(1u << c);
	const bool paused = p->paused & bit;
	uint32_t circle[64];

	if (p->stormed & bit) {
		if (!paused && p->pause.ended[c] + restore_time(s) <= now)
			p->stormed &= (uint8_t)~bit;
		return;
	}
	if (!paused || !(p->nonempty & bit) || p->pause.since[c] + s->watchdog > now)
		return;
	if (fabric_deadlock(f, now, s->watchdog / 2, circle, 64))
		f->counters.deadlocks++;
	f->counters.storms++;
	p->stormed |= bit;
	drop_queue(f, p, c, now);
}

void pause_watch(struct fabric *f, struct port *p, uint64_t now)
{
	for (unsigned c = 0; c < FABRIC_CLASSES; c++)
		watch_class(f, p, c, now);
	pause_watch_later(f, p, now);
}
