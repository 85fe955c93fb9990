/* SPDX-License-Identifier: BSD-2-Clause */
/* See delayed_write.h. One burst at the most is on its way: what comes next sends it home first. */
#include "delayed_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES  65536u /* a longer burst is stored at once, */
#define PIECES 512u   /* and so is one that is more of these */
#define ALIGN  64u    /* pieces end at multiples of it, so that words are stored whole */

struct piece {
	struct core_span to;
	uint32_t at; /* in bytes */
};

struct delayed_write {
	uint64_t chance;
	struct client *client;
	bool of_write;
	uint64_t due;
	unsigned cut;     /* pieces */
	unsigned n, done; /* of them that are to come, and that came */
	struct piece piece[PIECES];
	uint8_t bytes[BYTES];
};

int delayed_write_create(struct device *dev)
{
	if (!dev->cfg.late_bytes_ns)
		return 0;
	dev->late = calloc(1, sizeof(*dev->late));
	if (!dev->late)
		return -ENOMEM;
	dev->late->chance = chance_next(&dev->chance);
	return 0;
}

void delayed_write_destroy(struct device *dev)
{
	free(dev->late);
	dev->late = NULL;
}

/* ---- cutting ---- */

static bool add_span(struct delayed_write *l, const struct core_span *s, uint32_t step,
		     uint32_t *at)
{
	uint32_t done = 0;

	while (done < s->length) {
		uint64_t addr = s->addr + done;
		uint32_t part = step - (uint32_t)(addr % step);

		if (l->cut == PIECES)
			return false;
		if (part > s->length - done)
			part = s->length - done;
		l->piece[l->cut++] =
			(struct piece){{.addr = addr, .length = part, .space = s->space}, *at};
		done += part;
		*at += part;
	}
	return true;
}

static uint32_t total(const struct core_span *to, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += to[i].length;
	return sum > BYTES ? UINT32_MAX : (uint32_t)sum;
}

/* False: it is too much. */
static bool cut(struct delayed_write *l, const struct core_span *to, unsigned n)
{
	uint32_t length = total(to, n), at = 0, step = ALIGN;

	l->cut = l->n = l->done = 0;
	if (length > BYTES)
		return false;
	while (length / step > PIECES / 4)
		step *= 2;
	for (unsigned i = 0; i < n; i++)
		if (!add_span(l, &to[i], step, &at))
			return false;
	return true;
}

static void shuffle(struct delayed_write *l)
{
	for (unsigned i = l->cut; i > 1; i--) {
		unsigned k = chance_below(&l->chance, i);
		struct piece p = l->piece[i - 1];

		l->piece[i - 1] = l->piece[k];
		l->piece[k] = p;
	}
}

/* ---- storing ---- */

static int store_next(const struct device *dev, struct delayed_write *l)
{
	const struct piece *p = &l->piece[l->done++];
	struct iovec from = {l->bytes + p->at, p->to.length};

	return dev->ops->mem_write(l->client->cookie, &p->to, 1, &from, 1);
}

/* Not the last one; a single piece is late as a whole. */
static int store_some(const struct device *dev, struct delayed_write *l)
{
	int err = 0;

	if (l->n == 0)
		return 0;
	for (unsigned i = chance_below(&l->chance, l->n); i > 0 && err == 0; i--)
		err = store_next(dev, l);
	if (err)
		l->n = l->done = 0;
	return err;
}

/* Is all of it there? Reads it over what is to be written. */
static int probe(const struct device *dev, const struct late_write *w)
{
	return dev->ops->mem_read(w->client->cookie, w->to, w->n, dev->late->bytes);
}

static void gather(struct delayed_write *l, const struct iovec *from, unsigned n)
{
	size_t at = 0;

	for (unsigned i = 0; i < n; at += from[i++].iov_len)
		memcpy(l->bytes + at, from[i].iov_base, from[i].iov_len);
}

int delayed_write_write(const struct device *dev, const struct late_write *w)
{
	struct delayed_write *l = dev->late;
	int err;

	delayed_write_settle(dev);
	if (!l || !cut(l, w->to, w->n))
		return dev->ops->mem_write(w->client->cookie, w->to, w->n, w->from, w->n_from);
	err = probe(dev, w);
	if (err)
		return err;
	gather(l, w->from, w->n_from);
	shuffle(l);
	l->client = w->client;
	l->of_write = w->of_write;
	l->due = dev->now + dev->cfg.late_bytes_ns;
	l->n = l->cut;
	return store_some(dev, l);
}

void delayed_write_settle(const struct device *dev)
{
	struct delayed_write *l = dev->late;

	/* What is not there any more is lost, as it is to an adapter. */
	while (l && l->done < l->n)
		(void)store_next(dev, l);
}

void delayed_write_settle_requests(const struct device *dev)
{
	if (dev->late && !(dev->cfg.late_writes && dev->late->of_write))
		delayed_write_settle(dev);
}

uint64_t delayed_write_due(const struct device *dev)
{
	const struct delayed_write *l = dev->late;

	return l && l->done < l->n ? l->due : UINT64_MAX;
}

void delayed_write_tick(const struct device *dev)
{
	if (delayed_write_due(dev) <= dev->now)
		delayed_write_settle(dev);
}
