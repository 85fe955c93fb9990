/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder resources of a QP: READs and atomics that a duplicate request repeats. */
#include "replay.h"

#include "wire/psn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int replay_construct(struct replay *r, uint32_t size)
{
	memset(r, 0, sizeof *r);
	if (size == 0)
		return 0;
	if (size > REPLAY_MAX)
		return -EINVAL;
	r->entry = calloc(size, sizeof *r->entry);
	if (!r->entry)
		return -ENOMEM;
	r->size = size;
	return 0;
}

void replay_destruct(struct replay *r)
{
	free(r->entry);
	memset(r, 0, sizeof *r);
}

void replay_clear(struct replay *r)
{
	if (r->size)
		memset(r->entry, 0, r->size * sizeof *r->entry);
	r->next = r->first = 0;
}

static struct replay_entry *at(const struct replay *r, uint64_t number)
{
	return &r->entry[number % r->size];
}

/* Number of the oldest resource that is kept. */
static uint64_t oldest(const struct replay *r)
{
	return r->next < r->size ? 0 : r->next - r->size;
}

bool replay_has_room(const struct replay *r)
{
	const struct replay_entry *evicted;

	if (!r->size)
		return false;
	evicted = at(r, r->next);
	return !evicted->pending || evicted->answered;
}

void replay_add(struct replay *r, const struct replay_entry *e)
{
	struct replay_entry *place = at(r, r->next++);

	*place = *e;
	place->pending = true;
	place->answered = false;
	place->start = place->sent = 0;
	place->end = e->length;
	if (r->first < oldest(r))
		r->first = oldest(r);
}

struct replay_entry *replay_find(struct replay *r, uint32_t psn)
{
	for (uint64_t n = r->next; n != oldest(r); n--) {
		struct replay_entry *e = at(r, n - 1);
		if (psn_in_window(psn, e->psn, e->n_psn))
			return e;
	}
	return NULL;
}

void replay_again(struct replay *r, struct replay_entry *e, uint32_t start, uint32_t end)
{
	if (!e->pending || start < e->sent)
		e->start = e->sent = start;
	if (!e->pending || end > e->end)
		e->end = end;
	e->pending = true;
	r->first = oldest(r);
}

struct replay_entry *replay_head(struct replay *r)
{
	for (; r->first != r->next; r->first++)
		if (at(r, r->first)->pending)
			return at(r, r->first);
	return NULL;
}

void replay_done(struct replay_entry *e)
{
	e->pending = false;
	e->answered = true;
}

void replay_cancel(struct replay *r)
{
	for (struct replay_entry *e; (e = replay_head(r));)
		replay_done(e);
}
