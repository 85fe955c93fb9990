/* SPDX-License-Identifier: BSD-2-Clause */
/* Release times of packets under delay, rate and pause rules. */
#include "lane.h"

#include "emu/array/array.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define NEVER  (UINT64_MAX - 1)

const struct fault_entry *fault_lane_rule(const struct fault_plan *p, const struct fault_lane *l)
{
	for (unsigned i = 0; i < fault_plan_count(p); i++) {
		const struct fault_entry *e = fault_plan_entry(p, i);

		if (e->number == l->rule)
			return e->added == l->added ? e : NULL;
	}
	return NULL;
}

static void forget_old(struct fault_lanes *l, const struct fault_plan *p)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < l->count; i++)
		if (fault_lane_rule(p, &l->lane[i]))
			l->lane[kept++] = l->lane[i];
		else
			free(l->lane[i].queue.at);
	l->count = kept;
}

static bool make_room(struct fault_lanes *l, const struct fault_plan *p)
{
	if (l->count == l->room)
		forget_old(l, p);
	return array_make_room(&l->lane, l->count, &l->room, sizeof(*l->lane));
}

struct fault_lane *fault_lane_of(struct fault_lanes *l, const struct fault_plan *p,
				 const struct fault_entry *e, enum fault_direction dir)
{
	const struct fault_lane new = {.rule = e->number, .dir = dir, .added = e->added};
	unsigned i = 0;

	while (i < l->count && (l->lane[i].rule != e->number || l->lane[i].dir != dir))
		i++;
	if (i == l->count) {
		if (!make_room(l, p))
			return NULL;
		i = l->count++;
		l->lane[i] = new;
	} else if (l->lane[i].added != e->added) {
		free(l->lane[i].queue.at);
		l->lane[i] = new;
	}
	return &l->lane[i];
}

void fault_lanes_clear(struct fault_lanes *l)
{
	for (unsigned i = 0; i < l->count; i++)
		free(l->lane[i].queue.at);
	free(l->lane);
	*l = (struct fault_lanes){0};
}

static uint64_t behind_last(struct fault_lane *l, uint64_t at)
{
	if (at < l->last)
		at = l->last;
	l->last = at;
	return at;
}

uint64_t fault_lane_delay(struct fault_lane *l, uint64_t at, uint64_t delay)
{
	return behind_last(l, delay > NEVER - at ? NEVER : at + delay);
}

uint64_t fault_lane_rate(struct fault_lane *l, uint64_t at, uint64_t rate, uint64_t bits)
{
	uint64_t took = bits * SECOND / rate; /* a packet has less than 2^17 bits */

	at = behind_last(l, at < l->free_at ? l->free_at : at);
	l->free_at = at + took;
	return at;
}

uint64_t fault_lane_wait(struct fault_lane *l, uint64_t at)
{
	return behind_last(l, at < l->until ? l->until : at);
}

void fault_lane_pause(struct fault_lanes *all, struct fault_lane *l, uint64_t at, uint64_t time)
{
	if (at < l->until)
		at = l->until;
	l->until = time > NEVER - at ? NEVER : at + time;
	if (all->paused_until < l->until)
		all->paused_until = l->until;
}

/* ---- the queue ---- */

static void forget_left(struct fault_lane_queue *q, uint64_t at)
{
	for (; q->n && q->at[q->first].leaves <= at; q->n--)
		q->bytes -= q->at[q->first++].bytes;
	if (q->n == 0)
		q->first = 0;
}

static bool make_place(struct fault_lane_queue *q)
{
	if (q->first + q->n == q->room && q->first > q->room / 2) {
		memmove(q->at, q->at + q->first, q->n * sizeof(*q->at));
		q->first = 0;
	}
	return array_make_room(&q->at, q->first + q->n, &q->room, sizeof(*q->at));
}

bool fault_lane_enter(struct fault_lane *l, const struct fault_lane_limit *limit, uint64_t at,
		      const struct fault_lane_waiting *packet)
{
	struct fault_lane_queue *q = &l->queue;

	if (packet->leaves <= at || (!limit->packets && !limit->bytes))
		return true;
	forget_left(q, at);
	if ((limit->packets && q->n >= limit->packets) ||
	    (limit->bytes && q->bytes + packet->bytes > limit->bytes) || !make_place(q))
		return false;
	q->at[q->first + q->n++] = *packet;
	q->bytes += packet->bytes;
	return true;
}
