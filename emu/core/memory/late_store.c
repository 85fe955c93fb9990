/* SPDX-License-Identifier: BSD-2-Clause */
/* See late_store.h. One train at the most is on its way: what comes next sends it home first. */
#include "late_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES  65536u /* a longer train is stored at once, */
#define PIECES 512u   /* and so is one that is more of these */
#define ALIGN  64u    /* pieces end at multiples of it, so that words are stored whole */

struct piece {
	struct core_span to;
	uint32_t at; /* in bytes */
};

struct late_store {
	uint64_t chance;
	struct client *client;
	bool of_write;
	uint64_t due;
	unsigned cut;     /* pieces */
	unsigned n, done; /* of them that are to come, and that came */
	struct piece piece[PIECES];
	uint8_t bytes[BYTES];
};

int late_store_create(struct device *dev)
{
	if (!dev->cfg.late_bytes_ns)
		return 0;
	dev->late = calloc(1, sizeof(*dev->late));
	if (!dev->late)
		return -ENOMEM;
	dev->late->chance = chance_next(&dev->chance);
	return 0;
}

void late_store_destroy(struct device *dev)
{
	free(dev->late);
	dev->late = NULL;
}

/* ---- cutting ---- */

static bool add_span(struct late_store *l, const struct core_span *s, uint32_t step, uint32_t *at)
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
static bool cut(struct late_store *l, const struct core_span *to, unsigned n)
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

static void shuffle(struct late_store *l)
{
	for (unsigned i = l->cut; i > 1; i--) {
		unsigned k = chance_below(&l->chance, i);
		struct piece p = l->piece[i - 1];

		l->piece[i - 1] = l->piece[k];
		l->piece[k] = p;
	}
}

/* ---- storing ---- */

static int store_next(const struct device *dev, struct late_store *l)
{
	const struct piece *p = &l->piece[l->done++];
	struct iovec from = {l->bytes + p->at, p->to.length};

	return dev->ops->mem_write(l->client->cookie, &p->to, 1, &from, 1);
}

/* Not the last one; a single piece is late as a whole. */
static int store_some(const struct device *dev, struct late_store *l)
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

static void gather(struct late_store *l, const struct iovec *from, unsigned n)
{
	size_t at = 0;

	for (unsigned i = 0; i < n; at += from[i++].iov_len)
		memcpy(l->bytes + at, from[i].iov_base, from[i].iov_len);
}

int late_store_write(const struct device *dev, const struct late_write *w)
{
	struct late_store *l = dev->late;
	int err;

	late_store_settle(dev);
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

void late_store_settle(const struct device *dev)
{
	struct late_store *l = dev->late;

	/* What is not there any more is lost, as it is to an adapter. */
	while (l && l->done < l->n)
		(void)store_next(dev, l);
}

void late_store_complete(const struct device *dev, const struct uhca_abi_cqe *e)
{
	const struct late_store *l = dev->late;

	if (l && dev->cfg.late_writes && l->of_write && !uhca_cqe_is_receive(e))
		return;
	late_store_settle(dev);
}

uint64_t late_store_due(const struct device *dev)
{
	const struct late_store *l = dev->late;

	return l && l->done < l->n ? l->due : UINT64_MAX;
}

void late_store_tick(const struct device *dev)
{
	if (late_store_due(dev) <= dev->now)
		late_store_settle(dev);
}
