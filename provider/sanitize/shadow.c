/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See shadow.h. A ring that grows: a program may have more outstanding than the queue has room for.
 */
#include "shadow.h"

#include "provider/memory_watch/memory_watch.h"
#include "provider/page_watch/page_watch.h"
#include "provider/queues/queues.h"

#include <stdlib.h>

#define ROOM_MIN 16u

pthread_mutex_t uhcav_shadows_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, uhcav_shadow) all = LIST_HEAD_INITIALIZER(all);

struct uhcav_shadow *uhcav_shadow_create(const struct uhcav_shadow *as)
{
	struct uhcav_shadow *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = *as;
	s->first = s->n = s->room = 0;
	s->requests = NULL;
	uhcav_lock_init(&s->lock, false);
	pthread_mutex_init(&s->posting, NULL);
	pthread_mutex_lock(&uhcav_shadows_lock);
	LIST_INSERT_HEAD(&all, s, link);
	pthread_mutex_unlock(&uhcav_shadows_lock);
	return s;
}

void uhcav_shadow_each(void (*what)(struct uhcav_shadow *s, void *arg), void *arg)
{
	struct uhcav_shadow *s;

	pthread_mutex_lock(&uhcav_shadows_lock);
	LIST_FOREACH(s, &all, link)
	what(s, arg);
	pthread_mutex_unlock(&uhcav_shadows_lock);
}

void uhcav_request_open(struct uhcav_request *r)
{
	for (uint32_t i = 0; i < r->n_pieces; i++) {
		struct uhcav_piece *p = &r->pieces[i];
		if (uhcav_page_watch_end(p->page_watch))
			p->summed = 0;
		p->page_watch = 0;
	}
}

void uhcav_shadow_open(struct uhcav_shadow *s)
{
	if (!s)
		return;
	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n; i++)
		uhcav_request_open(uhcav_shadow_at(s, i));
	uhcav_unlock(&s->lock);
}

void uhcav_request_free(struct uhcav_request *r)
{
	uhcav_request_open(r);
	free(r->pieces);
	r->pieces = NULL;
}

static bool is_read(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	return s->is_send && r->direction == UHCAV_LOCAL_WRITE;
}

/* A request is about to be taken out. Under the lock. */
static void leaves(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	s->reads -= is_read(s, r) && !r->done;
	if (!r->done)
		uhcav_frees_unwatch(r->wr_id);
	if (r->counted && s->cq)
		__atomic_fetch_sub(&s->cq->expected, 1, __ATOMIC_RELAXED);
}

void uhcav_shadow_clear(struct uhcav_shadow *s)
{
	if (!s)
		return;
	uhcav_lock(&s->lock);
	for (; s->n; s->n--, s->first++) {
		leaves(s, uhcav_shadow_at(s, 0));
		uhcav_request_free(uhcav_shadow_at(s, 0));
	}
	s->fenced = false;
	__atomic_store_n(&s->failed, NULL, __ATOMIC_RELEASE);
	s->posted_since = 0;
	__atomic_store_n(&s->unread, false, __ATOMIC_RELAXED);
	uhcav_unlock(&s->lock);
}

void uhcav_shadow_unplug(struct uhcav_shadow *s)
{
	if (!s)
		return;
	uhcav_lock(&s->lock);
	s->retired = NULL;
	uhcav_unlock(&s->lock);
}

void uhcav_shadow_destroy(struct uhcav_shadow *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&uhcav_shadows_lock);
	LIST_REMOVE(s, link);
	pthread_mutex_unlock(&uhcav_shadows_lock);
	uhcav_shadow_clear(s);
	pthread_mutex_destroy(&s->posting);
	free(s->requests);
	free(s);
}

/* Twice the room. Under the lock. */
static bool grow(struct uhcav_shadow *s)
{
	uint32_t room = s->room ? s->room * 2 : ROOM_MIN;
	struct uhcav_request *larger = calloc(room, sizeof(*larger));

	if (!larger)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		larger[i] = *uhcav_shadow_at(s, i);
	free(s->requests);
	s->requests = larger;
	s->room = room;
	s->first = 0;
	return true;
}

bool uhcav_shadow_enter(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	bool fits;

	uhcav_lock(&s->lock);
	fits = s->n < s->room || grow(s);
	if (fits) {
		struct uhcav_request *to = uhcav_shadow_at(s, s->n++);
		*to = *r;
		to->counted = s->cq && r->signaled;
		to->since = uhcav_frees_now();
		uhcav_frees_watch(r->wr_id);
		s->reads += is_read(s, r);
		s->fenced |= r->fenced;
		if (r->fenced)
			s->fence = r->index;
		if (to->counted)
			__atomic_fetch_add(&s->cq->expected, 1, __ATOMIC_RELAXED);
	}
	uhcav_unlock(&s->lock);
	return fits;
}

void uhcav_shadow_take_back(struct uhcav_shadow *s, uint32_t n)
{
	uhcav_lock(&s->lock);
	for (; n && s->n; n--) {
		struct uhcav_request *r = uhcav_shadow_at(s, --s->n);
		leaves(s, r);
		uhcav_request_free(r);
	}
	uhcav_unlock(&s->lock);
}

uint32_t uhcav_shadow_complete(struct uhcav_shadow *s, uint32_t index, struct uhcav_request *out,
			       uint32_t max)
{
	uint32_t taken = 0;

	uhcav_lock(&s->lock);
	for (; taken < max && s->n; s->n--, s->first++) {
		struct uhcav_request *r = uhcav_shadow_at(s, 0);
		if ((int32_t)(r->index - index) >= 0)
			break;
		leaves(s, r);
		out[taken++] = *r;
	}
	uhcav_unlock(&s->lock);
	return taken;
}

/* What is done at the front makes room. Under the lock. */
static void drop_done(struct uhcav_shadow *s)
{
	while (s->n && uhcav_shadow_at(s, 0)->done) {
		s->first++;
		s->n--;
	}
}

uint32_t uhcav_shadow_complete_one(struct uhcav_shadow *s, uint64_t wr_id,
				   struct uhcav_request *out)
{
	bool found = false;

	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		struct uhcav_request *r = uhcav_shadow_at(s, i);
		found = !r->done && r->wr_id == wr_id;
		if (!found)
			continue;
		*out = *r;
		leaves(s, r);
		r->counted = false;
		r->pieces = NULL;
		r->n_pieces = 0;
		r->done = true;
	}
	drop_done(s);
	uhcav_unlock(&s->lock);
	return found;
}

bool uhcav_shadow_has(struct uhcav_shadow *s, uint64_t wr_id, uint32_t index)
{
	bool found = false;

	if (!s)
		return false;
	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		if (s->is_send && (int32_t)(r->index - index) >= 0)
			break;
		found = !r->done && r->wr_id == wr_id;
	}
	uhcav_unlock(&s->lock);
	return found;
}
