/* SPDX-License-Identifier: BSD-2-Clause */
/* See key_cause.h. The order of what is looked at is that of mr_check and remote_check. */
#include "key_cause.h"

#include "emu/core/base/base.h"
#include "mw.h"

#define SLOTS_MOST  4096u /* looked at for a key that is like the one that names nothing */
#define DIGITS_MOST 4u    /* in which it may differ, of eight */

/* ---- a key that names nothing ---- */

static unsigned digits_that_differ(uint32_t a, uint32_t b)
{
	unsigned n = 0;

	for (uint32_t x = a ^ b; x; x >>= 4)
		n += (x & 15) != 0;
	return n;
}

/* In the other byte order, as where htonl was forgotten, it is the same key. */
static unsigned distance(uint32_t a, uint32_t b)
{
	return a == __builtin_bswap32(b) ? 1 : digits_that_differ(a, b);
}

/* The key by which an object of this domain is named in such a request; 0: by none. */
static uint32_t name_of(const struct object *o, const struct pd *pd, bool remote)
{
	const struct mr *mr = (const void *)o;
	const struct mw *mw = (const void *)o;

	if (o->kind == KEY_MW)
		return remote && mw->pd == pd && mw->mr ? mw->key : 0;
	if (mr->pd != pd || mr->revoked)
		return 0;
	return remote ? mr_rkey(mr) : mr->key;
}

/* Where the table is large, around the slot that the key names. */
static uint32_t nearest(struct key_user user, const struct key_access *a)
{
	const struct table *t = &user.dev->mrs;
	uint32_t index = a->key >> 8 & ((1u << t->index_bits) - 1);
	uint32_t from = index > SLOTS_MOST / 2 ? index - SLOTS_MOST / 2 : 0;
	unsigned best = DIGITS_MOST + 1;
	uint32_t found = 0;

	if (t->size <= SLOTS_MOST || from > t->size)
		from = 0;
	for (uint32_t i = from; i < t->size && i - from < SLOTS_MOST; i++) {
		const struct object *o = table_at(t, i);
		uint32_t key = o ? name_of(o, user.pd, a->remote) : 0;

		if (key && distance(key, a->key) < best) {
			best = distance(key, a->key);
			found = key;
		}
	}
	return found;
}

/* The region of the domain that has what is asked for, as if the keys of two were mixed up. */
static uint32_t owner_of(struct key_user user, const struct key_access *a)
{
	const struct table *t = &user.dev->mrs;

	for (uint32_t i = 0; i < t->size && i < SLOTS_MOST; i++) {
		const struct mr *mr = table_at(t, i);
		uint32_t key =
			mr && mr->obj.kind == KEY_MR ? name_of(&mr->obj, user.pd, a->remote) : 0;

		if (key && a->addr >= mr->iova && a->length <= mr->pages.length &&
		    a->addr - mr->iova <= mr->pages.length - a->length &&
		    (mr->access & a->need) == a->need)
			return key;
	}
	return 0;
}

static struct uhca_abi_cause begin(enum uhca_abi_cause_kind kind, const struct key_access *a)
{
	return (struct uhca_abi_cause){
		.kind = kind, .key = a->key, .at = a->addr, .bytes = a->length};
}

static const struct device_dead_key *find_dead(const struct device *dev, uint32_t key)
{
	for (unsigned i = 1; i <= DEVICE_DEAD_KEYS; i++) {
		const struct device_dead_key *d = &dev->dead[(dev->n_dead - i) % DEVICE_DEAD_KEYS];

		if (dev->n_dead >= i && (d->lkey == key || d->rkey == key))
			return d;
	}
	return NULL;
}

static struct uhca_abi_cause unknown(struct key_user user, const struct key_access *a)
{
	const struct device_dead_key *d = find_dead(user.dev, a->key);
	struct uhca_abi_cause c = begin(UHCA_ABI_CAUSE_KEY_UNKNOWN, a);

	if (!d) {
		c.near = nearest(user, a);
		return c;
	}
	c.kind = UHCA_ABI_CAUSE_KEY_DEAD;
	c.start = d->start;
	c.size = d->size;
	c.since = user.dev->now - d->at;
	return c;
}

void key_remember(const struct mr *mr)
{
	struct device *dev = mr->obj.client->dev;

	dev->dead[dev->n_dead++ % DEVICE_DEAD_KEYS] = (struct device_dead_key){
		.lkey = mr->key,
		.rkey = mr_rkey(mr),
		.at = dev->now,
		.start = mr->iova,
		.size = mr->pages.length,
	};
}

/* ---- one that names something ---- */

/* What the key gives, of a region or a window. */
struct grant {
	const struct pd *pd;
	bool any_pd;
	uint32_t access;
	uint64_t start, size;
	bool lost;
};

static bool is_outside(const struct grant *g, const struct key_access *a)
{
	return a->length && (a->addr < g->start || a->length > g->size ||
			     a->addr - g->start > g->size - a->length);
}

static struct uhca_abi_cause judge(struct key_user user, const struct grant *g,
				   const struct key_access *a)
{
	struct uhca_abi_cause c = begin(UHCA_ABI_CAUSE_MEMORY, a);

	c.start = g->start;
	c.size = g->size;
	if (g->pd != user.pd && !g->any_pd) {
		c.kind = UHCA_ABI_CAUSE_KEY_DOMAIN;
		c.expected = user.pd ? user.pd->obj.handle : 0;
		c.got = g->pd->obj.handle;
	} else if ((g->access & a->need) != a->need) {
		c.kind = UHCA_ABI_CAUSE_KEY_RIGHT;
		c.rights = a->need & ~g->access;
	} else if (is_outside(g, a)) {
		c.kind = UHCA_ABI_CAUSE_RANGE;
		c.near = owner_of(user, a);
	}
	return c;
}

static struct uhca_abi_cause judge_window(struct key_user user, const struct mw *mw,
					  const struct key_access *a)
{
	const struct grant g = {
		.pd = mw->pd,
		.any_pd = mw->by_qpn,
		.access = mw->access,
		.start = mw->access & MR_ZERO_BASED ? 0 : mw->addr,
		.size = mw->length,
	};

	if (!mw->mr || (mw->type == 2 && mw->qpn != user.qpn))
		return begin(UHCA_ABI_CAUSE_KEY_UNBOUND, a);
	return judge(user, &g, a);
}

static struct uhca_abi_cause judge_region(struct key_user user, const struct mr *mr,
					  const struct key_access *a)
{
	const struct grant g = {
		.pd = mr->pd, .access = mr->access, .start = mr->iova, .size = mr->pages.length};

	if (mr->revoked)
		return begin(UHCA_ABI_CAUSE_KEY_REVOKED, a);
	if (mr->ind && !mr->ind->shape)
		return begin(UHCA_ABI_CAUSE_KEY_UNBOUND, a);
	return judge(user, &g, a);
}

struct uhca_abi_cause key_cause(struct key_user user, const struct key_access *a)
{
	const struct object *o = table_find(&user.dev->mrs, a->key >> 8);
	const struct mr *mr = (const void *)o;
	const struct mw *mw = (const void *)o;
	struct uhca_abi_cause c;

	if (o && o->kind == KEY_MW && a->remote && mw->key == a->key)
		return judge_window(user, mw, a);
	if (o && o->kind == KEY_MR && a->key == (a->remote ? mr_rkey(mr) : mr->key))
		return judge_region(user, mr, a);
	if (o && o->kind == KEY_MR && mr_is_named(mr, a->key)) {
		c = begin(UHCA_ABI_CAUSE_KEY_SWAPPED, a);
		c.near = a->remote ? mr_rkey(mr) : mr->key;
		return c;
	}
	return unknown(user, a);
}

struct uhca_abi_cause sgl_cause(const struct sgl *l, uint32_t need)
{
	const struct key_user user = {l->dev, l->pd, 0};
	struct uhca_abi_cause c = {.kind = UHCA_ABI_CAUSE_NONE};

	for (unsigned i = 0; i < l->n; i++) {
		const struct key_access a = {l->sge[i].lkey, l->sge[i].addr, l->sge[i].length, need,
					     false};
		struct uhca_abi_cause of_this;

		if (l->sge[i].length == 0)
			continue;
		of_this = key_cause(user, &a);
		if (of_this.kind != UHCA_ABI_CAUSE_MEMORY)
			return of_this;
		if (c.kind == UHCA_ABI_CAUSE_NONE)
			c = of_this;
	}
	return c;
}
