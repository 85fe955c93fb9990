/* SPDX-License-Identifier: BSD-2-Clause */
/* A calendar queue over numbered slots. See calendar.h. */
#include "calendar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE       UINT32_MAX
#define PER_BUCKET 4u  /* events, about */
#define LEAST      64u /* buckets: a word of "full" */
#define MOST       (1u << 17)
#define AHEAD      16u /* sorted events, so that what they touch comes in time */
#define AHEAD_MOST 32u /* buckets */
#define ROW_1      2u  /* events before one that is in row 1 */
#define ROW_2      8u
#define MOVE_DOWN  512u /* events that were taken before the others move to the front */

static const fabric_event never = (fabric_event)FABRIC_NEVER << 64;

/* ---- life ---- */

/* The greatest power of 2 that is not above x; 0 for 0. */
static unsigned log_2(uint64_t x)
{
	return x ? 63u - (unsigned)__builtin_clzll(x) : 0;
}

static void choose_buckets(struct fabric_calendar *c, uint64_t gap, uint64_t span)
{
	c->shift = log_2(gap < UINT64_MAX / PER_BUCKET ? gap * PER_BUCKET : gap);
	c->n = LEAST;
	while (c->n < MOST && (uint64_t)c->n < span >> c->shift)
		c->n *= 2;
}

int fabric_calendar_init(struct fabric_calendar *c, uint32_t n, uint64_t gap, uint64_t span)
{
	const size_t slots = n ? n : 1;

	*c = (struct fabric_calendar){.room = n + 2 * MOVE_DOWN};
	choose_buckets(c, gap, span);
	c->now = malloc(c->room * sizeof(*c->now));
	c->buckets = malloc(c->n * sizeof(*c->buckets));
	c->full[0] = calloc(c->n / 64, sizeof(*c->full[0]));
	c->full[1] = calloc(c->n / 64 / 64 + 1, sizeof(*c->full[1]));
	c->positions = calloc(slots, sizeof(*c->positions));
	c->slots = aligned_alloc(_Alignof(struct fabric_calendar_slot), slots * sizeof(*c->slots));
	if (!c->now || !c->buckets || !c->full[0] || !c->full[1] || !c->positions || !c->slots ||
	    fabric_events_init(&c->far, n, c->positions) < 0) {
		fabric_calendar_fini(c);
		return -ENOMEM;
	}
	memset(c->buckets, 0xff, c->n * sizeof(*c->buckets));
	for (uint32_t i = 0; i < n; i++)
		c->slots[i].event = never;
	return 0;
}

void fabric_calendar_fini(struct fabric_calendar *c)
{
	fabric_events_fini(&c->far);
	free(c->now);
	free(c->buckets);
	free(c->full[0]);
	free(c->full[1]);
	free(c->positions);
	free(c->slots);
	*c = (struct fabric_calendar){0};
}

/* ---- lists ---- */

static uint64_t number_of(const struct fabric_calendar *c, uint64_t time)
{
	return time >> c->shift;
}

static void list_add(struct fabric_calendar *c, uint32_t slot, uint64_t number)
{
	const uint32_t i = (uint32_t)number & (c->n - 1);
	struct fabric_calendar_bucket *b = &c->buckets[i];
	struct fabric_calendar_slot *s = &c->slots[slot];

	s->next = NONE;
	s->prev = b->last;
	if (b->last != NONE) {
		c->slots[b->last].next = slot;
	} else {
		b->first = slot;
		c->full[0][i / 64] |= UINT64_C(1) << i % 64;
		c->full[1][i / 4096] |= UINT64_C(1) << i / 64 % 64;
	}
	b->last = slot;
}

static void mark_empty(struct fabric_calendar *c, uint32_t i)
{
	c->buckets[i] = (struct fabric_calendar_bucket){NONE, NONE};
	c->full[0][i / 64] &= ~(UINT64_C(1) << i % 64);
	if (!c->full[0][i / 64])
		c->full[1][i / 4096] &= ~(UINT64_C(1) << i / 64 % 64);
}

static void list_remove(struct fabric_calendar *c, uint32_t slot, uint64_t number)
{
	const uint32_t i = (uint32_t)number & (c->n - 1);
	struct fabric_calendar_bucket *b = &c->buckets[i];
	const struct fabric_calendar_slot *s = &c->slots[slot];

	if (s->prev == NONE)
		b->first = s->next;
	else
		c->slots[s->prev].next = s->next;
	if (s->next == NONE)
		b->last = s->prev;
	else
		c->slots[s->next].prev = s->prev;
	if (b->first == NONE)
		mark_empty(c, i);
}

/* The first bit that is set from "from" to "to" - 1, or "to". */
static uint32_t first_bit(const uint64_t *bits, uint32_t from, uint32_t to)
{
	while (from < to) {
		const uint64_t rest = bits[from / 64] >> from % 64;

		if (rest) {
			from += (uint32_t)__builtin_ctzll(rest);
			return from < to ? from : to;
		}
		from = (from / 64 + 1) * 64;
	}
	return to;
}

/* The same of lists, by the words that have one. */
static uint32_t first_list(const struct fabric_calendar *c, uint32_t from, uint32_t to)
{
	const uint32_t end = (from / 64 + 1) * 64;
	uint32_t i = first_bit(c->full[0], from, end < to ? end : to);

	if (end >= to || i < end)
		return i;
	i = first_bit(c->full[1], end / 64, (to + 63) / 64) * 64;
	return i < to ? first_bit(c->full[0], i, to) : to;
}

/* The number of the first bucket that is not empty, "at" + n when all are. */
static uint64_t first_number(const struct fabric_calendar *c)
{
	const uint32_t here = (uint32_t)c->at & (c->n - 1);
	uint32_t i = first_list(c, here, c->n);

	if (i < c->n)
		return c->at + (i - here);
	i = first_list(c, 0, here);
	return c->at + (c->n - here) + i;
}

/* ---- sorted events ---- */

/* The place of the first event that is not before e. */
static uint32_t place_of(const struct fabric_calendar *c, fabric_event e)
{
	uint32_t low = c->begin, high = c->end;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (c->now[middle] < e)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void move_down(struct fabric_calendar *c)
{
	memmove(c->now, c->now + c->begin, (c->end - c->begin) * sizeof(*c->now));
	c->end -= c->begin;
	c->begin = 0;
}

static void now_insert(struct fabric_calendar *c, fabric_event e)
{
	const uint32_t i = place_of(c, e);

	memmove(c->now + i + 1, c->now + i, (c->end - i) * sizeof(*c->now));
	c->now[i] = e;
	c->end++;
}

static void now_remove(struct fabric_calendar *c, fabric_event e)
{
	const uint32_t i = place_of(c, e);

	c->end--;
	memmove(c->now + i, c->now + i + 1, (c->end - i) * sizeof(*c->now));
}

static bool is_sorted(const fabric_event *e, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (e[i] < e[i - 1])
			return false;
	return true;
}

/* Each gap apart, as in Shell's sort: without memory, and fast where little is out of order. */
static void sort(fabric_event *e, uint32_t n)
{
	static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1}; /* Ciura, 2001 */

	for (unsigned g = is_sorted(e, n) ? 9 : 0; g < 9; g++)
		for (uint32_t i = gaps[g]; i < n; i++) {
			const fabric_event x = e[i];
			uint32_t k = i;

			for (; k >= gaps[g] && e[k - gaps[g]] > x; k -= gaps[g])
				e[k] = e[k - gaps[g]];
			e[k] = x;
		}
}

/* ---- time goes on ---- */

static void near(const struct fabric_calendar *c, uint32_t place, unsigned row)
{
	if (c->near && place < c->end)
		c->near(c->user, fabric_event_slot(c->now[place]), row);
}

/* Far events whose buckets there are now. */
static void fetch_far(struct fabric_calendar *c)
{
	while (c->far.used && number_of(c, fabric_events_next(&c->far)) < c->at + c->n) {
		const uint32_t slot = fabric_events_first(&c->far);

		fabric_events_set(&c->far, slot, FABRIC_NEVER);
		list_add(c, slot, number_of(c, fabric_event_time(c->slots[slot].event)));
	}
}

/* The events of this bucket, which comes next, are sorted. */
static void open_bucket(struct fabric_calendar *c, uint64_t number)
{
	const uint32_t i = (uint32_t)number & (c->n - 1), from = c->end;

	for (uint32_t slot = c->buckets[i].first; slot != NONE; slot = c->slots[slot].next) {
		c->now[c->end] = c->slots[slot].event;
		near(c, c->end++, 3);
	}
	mark_empty(c, i);
	sort(c->now + from, c->end - from);
	c->at = number + 1;
	fetch_far(c);
}

/* Nothing is sorted: the bucket of the first event is opened, if there is an event. */
static void open_first(struct fabric_calendar *c)
{
	uint64_t number = first_number(c);

	if (number == c->at + c->n) {
		c->at = number_of(c, fabric_events_next(&c->far));
		fetch_far(c);
		number = c->at;
	}
	open_bucket(c, number);
}

/* Some more events are sorted than are needed at once, but none that are much later. */
static void open_ahead(struct fabric_calendar *c, uint64_t now)
{
	while (c->end - c->begin < AHEAD) {
		const uint64_t number = first_number(c);

		if (number >= c->at + c->n || number > number_of(c, now) + AHEAD_MOST)
			return;
		open_bucket(c, number);
	}
}

uint64_t fabric_calendar_next(const struct fabric_calendar *c)
{
	uint64_t number, time = FABRIC_NEVER;

	if (c->begin < c->end)
		return fabric_event_time(c->now[c->begin]);
	number = first_number(c);
	if (number == c->at + c->n)
		return fabric_events_next(&c->far);
	for (uint32_t slot = c->buckets[number & (c->n - 1)].first; slot != NONE;
	     slot = c->slots[slot].next) {
		const uint64_t t = fabric_event_time(c->slots[slot].event);

		time = t < time ? t : time;
	}
	return time;
}

bool fabric_calendar_take(struct fabric_calendar *c, uint64_t until, fabric_event *e)
{
	if (c->begin == c->end) {
		const uint64_t next = fabric_calendar_next(c);

		if (next > until || next == FABRIC_NEVER)
			return false;
		c->begin = c->end = 0;
		open_first(c);
	}
	*e = c->now[c->begin];
	if (fabric_event_time(*e) > until)
		return false;
	c->begin++;
	c->slots[fabric_event_slot(*e)].event = never;
	if (c->begin >= MOVE_DOWN)
		move_down(c);
	if (c->end - c->begin < AHEAD)
		open_ahead(c, fabric_event_time(*e));
	near(c, c->begin + ROW_2, 2);
	near(c, c->begin + ROW_1, 1);
	return true;
}

/* ---- setting ---- */

static void remove_event(struct fabric_calendar *c, uint32_t slot)
{
	const fabric_event e = c->slots[slot].event;
	const uint64_t number = number_of(c, fabric_event_time(e));

	if (number < c->at)
		now_remove(c, e);
	else if (number < c->at + c->n)
		list_remove(c, slot, number);
	else
		fabric_events_set(&c->far, slot, FABRIC_NEVER);
	c->slots[slot].event = never;
}

void fabric_calendar_set(struct fabric_calendar *c, uint32_t slot, uint64_t time)
{
	const uint64_t number = number_of(c, time);

	if (fabric_calendar_is_set(c, slot))
		remove_event(c, slot);
	if (time == FABRIC_NEVER)
		return;
	c->slots[slot].event = fabric_event_make(time, c->order++, slot);
	if (number < c->at)
		now_insert(c, c->slots[slot].event);
	else if (number < c->at + c->n)
		list_add(c, slot, number);
	else
		fabric_events_set(&c->far, slot, time);
}
