/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way out of a net: on, later, or to the step queue; and step mode. What finds no room to wait
 * for its time is lost, and counted: going on at once it would overtake those that wait. What finds
 * none in the step queue goes on at once. A rule may hurt the packets it is for, never the machine.
 */
#include "net_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fault_net_note(struct fault_net *n, enum fault_note note, const struct core_burst *t,
		    uint64_t now)
{
	n->counters.full += note == FAULT_NOTE_FULL ? t->count : 0;
	n->counters.overflowed += note == FAULT_NOTE_OVERFLOW ? t->count : 0;
	n->counters.unfit += note == FAULT_NOTE_UNFIT ? t->count : 0;
	if (n->ops->note)
		n->ops->note(n->user, note, t, now);
}

static void pass(struct fault_net *n, const struct fault_to_hold *what, uint64_t now)
{
	if (what->made && n->ops->made)
		n->ops->made(n->user, what->dir, what->burst, now);
	n->ops->pass(n->user, what->dir, what->burst, now);
}

static struct fault_to_hold of_held(const struct fault_held *e)
{
	return (struct fault_to_hold){
		.burst = &e->burst, .dir = e->dir, .since = e->since, .made = e->made};
}

/* A packet was passed: those that waited for it to overtake them follow. */
static void pass_overtaken(struct fault_net *n, const struct fault_to_hold *by, uint64_t now)
{
	struct fault_held *e;

	for (uint32_t i = 0; i < by->burst->count; i++)
		fault_hold_overtake(&n->hold, by->dir, by->burst);
	while ((e = fault_hold_overtaken(&n->hold))) {
		const struct fault_to_hold what = of_held(e);

		pass(n, &what, now);
		free(e);
	}
}

void fault_net_leave(struct fault_net *n, const struct fault_to_hold *what, uint64_t now)
{
	if (n->frozen) {
		fault_net_wait(n, what, now);
		return;
	}
	pass(n, what, now);
	if (n->hold.reordered.first)
		pass_overtaken(n, what, now);
}

void fault_net_leave_later(struct fault_net *n, const struct fault_to_hold *what, uint64_t now)
{
	if (!fault_hold_time(&n->hold, what))
		fault_net_overflow(n, what, now);
}

void fault_net_overflow(struct fault_net *n, const struct fault_to_hold *what, uint64_t now)
{
	n->counters.dropped += what->burst->count;
	fault_net_note(n, FAULT_NOTE_OVERFLOW, what->burst, now);
	n->ops->dropped(n->user, what->dir, what->burst, false, now);
}

void fault_net_wait(struct fault_net *n, const struct fault_to_hold *what, uint64_t now)
{
	if (fault_hold_step(&n->hold, what))
		return;
	fault_net_note(n, FAULT_NOTE_FULL, what->burst, now);
	pass(n, what, now);
}

void fault_net_lose(struct fault_net *n, const struct fault_packet *p, bool malformed, uint64_t now)
{
	struct core_burst t;

	n->counters.dropped++;
	n->counters.malformed += malformed;
	fault_packet_burst(p, &t);
	n->ops->dropped(n->user, p->dir, &t, malformed, now);
}

/* ---- time ---- */

/*
 * One at a time: within a daemon what leaves one device has arrived at the other before pass
 * returns, and shows itself to that one's net or, where a device talks to itself, to this one. A
 * second tick there would let the next go in front of it.
 */
void fault_net_tick(struct fault_net *n, uint64_t now)
{
	struct fault_held *e;

	if (n->ticking)
		return;
	n->ticking = true;
	while ((e = fault_hold_due(&n->hold, now))) {
		const struct fault_to_hold what = of_held(e);

		fault_net_leave(n, &what, now);
		free(e);
	}
	n->ticking = false;
	/* Those that waited for it have left, too. */
	if (now >= n->lanes.paused_until)
		n->lanes.paused_until = 0;
}

uint64_t fault_net_deadline(const struct fault_net *n)
{
	return fault_hold_deadline(&n->hold);
}

/* ---- step mode ---- */

/* Lets one go that waits for a person. */
static void release(struct fault_net *n, struct fault_held *e, uint64_t now)
{
	const struct fault_to_hold what = of_held(fault_hold_take_step(&n->hold, e));

	pass(n, &what, now);
	if (n->hold.reordered.first)
		pass_overtaken(n, &what, now);
	free(e);
}

/* The first that waits on its way in, or on its way out; NULL: none up to this number. */
static struct fault_held *first_waiting(const struct fault_net *n, bool in, uint32_t last)
{
	struct fault_held *e = n->hold.stepped.first;

	while (e && (e->dir == FAULT_RX) != in)
		e = e->next;
	return e && e->number <= last ? e : NULL;
}

/*
 * What is on its way in left before what is on its way out: of a device that talks to itself, the
 * latter would overtake it. What is passed may come to wait again: a rule "hold" sees its answer.
 * Once around only.
 */
void fault_net_freeze(struct fault_net *n, bool on, uint64_t now)
{
	const uint32_t last = n->hold.last_number;
	struct fault_held *e;

	n->frozen = on;
	while (!on && (e = first_waiting(n, true, last)))
		release(n, e, now);
	while (!on && (e = first_waiting(n, false, last)))
		release(n, e, now);
}

bool fault_net_frozen(const struct fault_net *n)
{
	return n->frozen;
}

unsigned fault_net_waiting(const struct fault_net *n, struct fault_waiting *out, unsigned max)
{
	unsigned count = 0;

	for (const struct fault_held *e = n->hold.stepped.first; e && count < max; e = e->next)
		out[count++] = (struct fault_waiting){e->number, e->dir, &e->burst, e->since};
	return count;
}

int fault_net_release(struct fault_net *n, uint32_t number, uint64_t now)
{
	struct fault_held *e = fault_hold_find(&n->hold, number);

	if (!e)
		return -ENOENT;
	release(n, e, now);
	return 0;
}

int fault_net_drop(struct fault_net *n, uint32_t number, uint64_t now)
{
	struct fault_held *e = fault_hold_find(&n->hold, number);

	if (!e)
		return -ENOENT;
	fault_hold_take_step(&n->hold, e);
	n->counters.dropped += e->burst.count;
	e->burst.model.rule = 0;
	n->ops->dropped(n->user, e->dir, &e->burst, false, now);
	free(e);
	return 0;
}

/* A field never changes the length of the payload, which stays where it is. */
int fault_net_change(struct fault_net *n, uint32_t number, const char *field, uint64_t value)
{
	struct fault_held *e = fault_hold_find(&n->hold, number);
	struct fault_setting setting;
	struct fault_packet p;

	if (!e)
		return -ENOENT;
	if (!fault_setting_parse(field, value, &setting))
		return -EINVAL;
	p.pkt = e->burst.head;
	p.flow = e->burst.flow;
	p.model = e->burst.model;
	p.from_network = e->burst.from_network;
	p.urgent = e->burst.urgent;
	if (fault_packet_change(&p, &setting) != FAULT_CHANGED)
		return -EINVAL;
	if (p.pkt.payload_len)
		memcpy(e->payload, p.pkt.payload, p.pkt.payload_len);
	p.pkt.payload = p.pkt.payload_len ? e->payload : NULL;
	fault_packet_burst(&p, &e->burst);
	return 0;
}
