/* SPDX-License-Identifier: BSD-2-Clause */
/* See object.h. Found by address, and regions by key as well; kept in the order of creation. */
#include "object.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#define BUCKETS 1024u
#define GRAVES  1024u /* regions that are remembered */

struct entry {
	struct uhcav_object o;
	LIST_ENTRY(entry) by_address;
	LIST_ENTRY(entry) by_key;
	TAILQ_ENTRY(entry) in_order;
};
LIST_HEAD(bucket, entry);

pthread_mutex_t uhcav_object_lock = PTHREAD_MUTEX_INITIALIZER;
static bool last_went;
static unsigned went_after; /* so many troubles */
static struct bucket addresses[BUCKETS], keys[BUCKETS];
static TAILQ_HEAD(, entry) order = TAILQ_HEAD_INITIALIZER(order);
static struct uhcav_object graves[GRAVES];
static unsigned next_grave;

static const char *const names[UHCAV_KIND_COUNT] = {
	[UHCAV_KIND_PD] = "protection domain",
	[UHCAV_KIND_TD] = "thread domain",
	[UHCAV_KIND_CQ] = "completion queue",
	[UHCAV_KIND_QP] = "queue pair",
	[UHCAV_KIND_SRQ] = "shared receive queue",
	[UHCAV_KIND_WQ] = "work queue",
	[UHCAV_KIND_RWQ_TABLE] = "indirection table",
	[UHCAV_KIND_MR] = "memory region",
	[UHCAV_KIND_MW] = "memory window",
	[UHCAV_KIND_DM] = "device memory",
	[UHCAV_KIND_AH] = "address handle",
	[UHCAV_KIND_FLOW] = "steering rule",
	[UHCAV_KIND_XRCD] = "XRC domain",
	[UHCAV_KIND_COMP_CNTR] = "completion counter",
};

const char *uhcav_kind_name(enum uhcav_kind kind)
{
	return names[kind];
}

const char *uhcav_object_words(const struct uhcav_object *o, char words[UHCAV_OBJECT_WORDS])
{
	snprintf(words, UHCAV_OBJECT_WORDS, "%s 0x%x", names[o->kind], o->number);
	return words;
}

static struct bucket *at_address(const void *self)
{
	return &addresses[((uintptr_t)self >> 4) * 0x9e3779b1u % BUCKETS];
}

static struct bucket *at_key(uint32_t lkey)
{
	return &keys[(lkey ^ lkey >> 8) % BUCKETS];
}

bool uhcav_object_last_went(void)
{
	return last_went && went_after == uhcav_diagnostic_troubles();
}

void uhcav_object_add(const struct uhcav_object *o)
{
	struct entry *e = malloc(sizeof(*e));

	if (!e)
		return;
	e->o = *o;
	pthread_mutex_lock(&uhcav_object_lock);
	LIST_INSERT_HEAD(at_address(o->self), e, by_address);
	if (o->kind == UHCAV_KIND_MR)
		LIST_INSERT_HEAD(at_key(o->mr.lkey), e, by_key);
	TAILQ_INSERT_TAIL(&order, e, in_order);
	last_went = false;
	pthread_mutex_unlock(&uhcav_object_lock);
}

static struct entry *entry_find(const void *self)
{
	struct entry *e;

	LIST_FOREACH(e, at_address(self), by_address)
	if (e->o.self == self)
		return e;
	return NULL;
}

bool uhcav_object_take(const void *self, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	e = entry_find(self);
	if (e) {
		LIST_REMOVE(e, by_address);
		if (e->o.kind == UHCAV_KIND_MR)
			LIST_REMOVE(e, by_key);
		TAILQ_REMOVE(&order, e, in_order);
		*o = e->o;
		last_went = true;
		went_after = uhcav_diagnostic_troubles();
	}
	pthread_mutex_unlock(&uhcav_object_lock);
	free(e);
	return e;
}

void uhcav_object_bury(const struct uhcav_object *mr, const struct uhcav_stack *gone)
{
	pthread_mutex_lock(&uhcav_object_lock);
	graves[next_grave] = *mr;
	graves[next_grave].gone = gone;
	next_grave = (next_grave + 1) % GRAVES;
	pthread_mutex_unlock(&uhcav_object_lock);
}

bool uhcav_object_try_words(const void *self, char *words, size_t room)
{
	const struct entry *e;

	if (pthread_mutex_trylock(&uhcav_object_lock))
		return false;
	e = entry_find(self);
	if (e)
		snprintf(words, room, "%s 0x%x", names[e->o.kind], e->o.number);
	pthread_mutex_unlock(&uhcav_object_lock);
	return e;
}

/* Ends a search, under the lock: what it has found, or NULL. */
static bool search_end(const struct uhcav_object *found, struct uhcav_object *o)
{
	if (found)
		*o = *found;
	pthread_mutex_unlock(&uhcav_object_lock);
	return found;
}

bool uhcav_object_find(const void *self, struct uhcav_object *o)
{
	const struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	e = entry_find(self);
	return search_end(e ? &e->o : NULL, o);
}

static bool has_lkey(const struct uhcav_object *o, uint32_t key)
{
	return o->mr.lkey == key;
}

static bool has_rkey(const struct uhcav_object *o, uint32_t key)
{
	return o->mr.rkey == key;
}

/* The youngest that had the key. */
static const struct uhcav_object *find_grave(const struct ibv_context *context, uint32_t key,
					     bool (*has)(const struct uhcav_object *, uint32_t))
{
	for (unsigned i = 1; i <= GRAVES; i++) {
		const struct uhcav_object *o = &graves[(next_grave + GRAVES - i) % GRAVES];

		if (!o->self)
			break;
		if (o->context == context && has(o, key))
			return o;
	}
	return NULL;
}

bool uhcav_object_by_key(const struct ibv_context *context, uint32_t lkey, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	LIST_FOREACH(e, at_key(lkey), by_key)
	if (has_lkey(&e->o, lkey) && e->o.context == context)
		break;
	return search_end(e ? &e->o : find_grave(context, lkey, has_lkey), o);
}

bool uhcav_object_by_rkey(const struct ibv_context *context, uint32_t rkey, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	TAILQ_FOREACH(e, &order, in_order)
	if (e->o.kind == UHCAV_KIND_MR && e->o.context == context && has_rkey(&e->o, rkey))
		break;
	return search_end(e ? &e->o : find_grave(context, rkey, has_rkey), o);
}

static bool holds(const struct uhcav_object *o, struct uhcav_object_bytes b)
{
	uint64_t before = b.addr - o->mr.iova;

	return o->kind == UHCAV_KIND_MR &&
	       (!b.length || (b.addr >= o->mr.iova && before <= o->mr.length &&
			      b.length <= o->mr.length - before));
}

bool uhcav_object_elsewhere(const struct ibv_context *context, uint32_t lkey,
			    struct uhcav_object_bytes bytes, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	LIST_FOREACH(e, at_key(lkey), by_key)
	if (e->o.mr.lkey == lkey && e->o.context != context && holds(&e->o, bytes))
		break;
	return search_end(e ? &e->o : NULL, o);
}

bool uhcav_object_on_device(const char *device, bool there, uint32_t rkey,
			    struct uhcav_object_bytes bytes, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	TAILQ_FOREACH(e, &order, in_order)
	if (e->o.mr.rkey == rkey && holds(&e->o, bytes) &&
	    (strcmp(e->o.context->device->name, device) == 0) == there)
		break;
	return search_end(e ? &e->o : NULL, o);
}

bool uhcav_object_window(const struct ibv_context *context, uint32_t key, struct uhcav_object *o)
{
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	TAILQ_FOREACH(e, &order, in_order)
	if (e->o.kind == UHCAV_KIND_MW && e->o.context == context && e->o.number >> 8 == key >> 8)
		break;
	return search_end(e ? &e->o : NULL, o);
}

static bool stands_on(const struct uhcav_object *o, const void *self)
{
	for (unsigned i = 0; i < UHCAV_OBJECT_USES; i++)
		if (o->uses[i] == self)
			return true;
	return false;
}

unsigned uhcav_object_users(const void *self, struct uhcav_object *users, unsigned n)
{
	unsigned found = 0;
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	TAILQ_FOREACH(e, &order, in_order)
	if (stands_on(&e->o, self)) {
		if (found < n)
			users[found] = e->o;
		found++;
	}
	pthread_mutex_unlock(&uhcav_object_lock);
	return found;
}

void uhcav_object_each(void (*what)(struct uhcav_object *o, void *arg), void *arg)
{
	pid_t pid = getpid();
	struct entry *e;

	pthread_mutex_lock(&uhcav_object_lock);
	TAILQ_FOREACH(e, &order, in_order)
	if (e->o.pid == pid)
		what(&e->o, arg);
	pthread_mutex_unlock(&uhcav_object_lock);
}
