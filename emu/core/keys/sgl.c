/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes client memory through scatter/gather lists; checks each key at each use. */
#include "sgl.h"

#include "emu/core/memory/memory.h"
#include "indirect_grid.h"

#include <errno.h>
#include <string.h>

/* Spans handed to the shell at once; a longer list goes in several calls. */
#define SPANS 256

/* A reader of an iovec list, piece by piece. */
struct iov_cursor {
	const struct iovec *iov;
	unsigned n;
	size_t skip; /* bytes of iov[0] already taken */
};

uint32_t sgl_iov_length(const struct iovec *iov, unsigned n)
{
	size_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return (uint32_t)sum;
}

/* Takes exactly length bytes from the cursor into out; returns the number of pieces. */
static unsigned iov_take(struct iov_cursor *c, uint32_t length, struct iovec *out)
{
	unsigned n = 0;

	while (length) {
		size_t piece = c->iov->iov_len - c->skip;
		if (piece > length)
			piece = length;
		if (piece) {
			out[n].iov_base = (char *)c->iov->iov_base + c->skip;
			out[n++].iov_len = piece;
		}
		length -= (uint32_t)piece;
		c->skip += piece;
		if (c->skip == c->iov->iov_len && length) {
			c->iov++;
			c->skip = 0;
		}
	}
	return n;
}

uint64_t sgl_length(const struct sgl *l)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < l->n; i++)
		sum += l->sge[i].length;
	return sum;
}

enum mr_verdict sgl_check(const struct sgl *l, uint32_t need)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct uhca_abi_sge *s = &l->sge[i];
		struct mr *mr;
		enum mr_verdict v;
		if (s->length == 0)
			continue;
		v = mr_check(l->pd, s->lkey, s->addr, s->length, need, &mr);
		if (v != MR_OK)
			return v;
	}
	return MR_OK;
}

/*
 * What can be moved in one call: a row, or pieces of regions of one client, in order. Neither:
 * "bytes" bytes of a leaf without memory.
 */
struct run {
	struct mr *leaf; /* the first */
	uint32_t bytes;
	struct core_row row; /* count 0: there is none */
	unsigned n;
	struct core_span span[SPANS];
};

static bool has_memory(const struct mr *leaf)
{
	return leaf->kind != MR_KIND_NULL && leaf->kind != MR_KIND_LOST;
}

/* Adds what follows at addr, of the first leaf there. False when it does not belong to the run. */
static bool add_to_run(struct run *r, struct mr *mr, uint64_t addr, uint32_t length)
{
	uint64_t part = length;
	struct mr *leaf = indirect_leaf(mr, &addr, &part);
	uint32_t walked;

	if (!r->bytes)
		r->leaf = leaf;
	else if (!has_memory(leaf) || leaf->obj.client != r->leaf->obj.client)
		return false;
	if (!has_memory(leaf)) {
		r->bytes = (uint32_t)part;
		return false;
	}
	r->n += mr_spans(leaf, addr, (uint32_t)part, r->span + r->n, SPANS - r->n, &walked);
	r->bytes += walked;
	return walked == part && r->n < SPANS;
}

/* Legal chaos takes the bytes of a row in another order, as pieces. */
static bool takes_rows(const struct device *dev)
{
	return dev->ops->mem_read_row && !dev->late;
}

static void next_run(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length,
		     struct run *r)
{
	r->row.count = 0;
	r->n = 0;
	if (indirect_is_grid(mr)) {
		r->leaf = mr->ind->piece->child;
		if (takes_rows(dev) && indirect_grid_row(mr, addr, length, &r->row)) {
			r->bytes = r->row.length * r->row.count;
			return;
		}
		r->row.count = 0;
		r->n = indirect_grid_spans(mr, addr, length, r->span, SPANS, &r->bytes);
		return;
	}
	r->bytes = 0;
	while (r->bytes < length && add_to_run(r, mr, addr + r->bytes, length - r->bytes))
		;
}

static int read_run(const struct device *dev, const struct run *r, void *to)
{
	void *client = r->leaf->obj.client->cookie;

	if (r->row.count)
		return dev->ops->mem_read_row(client, &r->row, to);
	if (r->n)
		return dev->ops->mem_read(client, r->span, r->n, to);
	if (r->leaf->kind != MR_KIND_NULL)
		return -EFAULT;
	memset(to, 0, r->bytes);
	return 0;
}

int sgl_read_mr(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length, void *to)
{
	char *at = to;

	make_visible(mr->obj.client->dev, BEFORE_ACCESS, NULL);
	while (length) {
		struct run r;
		int err;
		next_run(dev, mr, addr, length, &r);
		err = read_run(dev, &r, at);
		if (err)
			return err;
		addr += r.bytes;
		at += r.bytes;
		length -= r.bytes;
	}
	return 0;
}

static int write_run(const struct device *dev, const struct run *r, struct iov_cursor *from,
		     bool of_write)
{
	struct iovec piece[CORE_BURST_IOV];
	unsigned pieces = iov_take(from, r->bytes, piece);

	if (r->row.count)
		return dev->ops->mem_write_row(r->leaf->obj.client->cookie, &r->row, piece);
	if (of_write && copies_on_poll_collide(r->leaf->obj.client, r->span, r->n))
		return -ESRCH;
	if (r->n)
		return delayed_write_write(dev,
					   &(struct late_write){r->leaf->obj.client, r->span, r->n,
								piece, pieces, of_write});
	/* A null region takes data and keeps none. */
	return r->leaf->kind == MR_KIND_NULL ? 0 : -EFAULT;
}

static int write_pieces(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length,
			struct iov_cursor *from, bool of_write)
{
	make_visible(mr->obj.client->dev, BEFORE_ACCESS, NULL);
	while (length) {
		struct run r;
		int err;
		next_run(dev, mr, addr, length, &r);
		err = write_run(dev, &r, from, of_write);
		if (err)
			return err;
		addr += r.bytes;
		length -= r.bytes;
	}
	return 0;
}

int sgl_write_mr(const struct device *dev, struct mr *mr, uint64_t addr, const struct iovec *from,
		 unsigned n_from)
{
	struct iov_cursor c = {from, n_from, 0};

	return write_pieces(dev, mr, addr, sgl_iov_length(from, n_from), &c, true);
}

/*
 * The part of element i that [offset, offset + length) of the list covers; the list's bytes before
 * the element are *before. Returns its length, and its start inside the element in *start.
 */
static uint32_t element_part(const struct uhca_abi_sge *s, uint64_t before, uint64_t offset,
			     uint64_t end, uint32_t *start)
{
	uint64_t from = offset > before ? offset - before : 0;
	uint64_t to = end > before ? end - before : 0;

	if (to > s->length)
		to = s->length;
	if (from >= to)
		return 0;
	*start = (uint32_t)from;
	return (uint32_t)(to - from);
}

const void *sgl_map_mr(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length,
		       const uint8_t dst[16])
{
	uint64_t part = length;
	struct mr *leaf;
	struct core_span span;
	uint32_t walked;

	if (!dev->ops->mem_map || indirect_is_grid(mr))
		return NULL;
	make_visible(mr->obj.client->dev, BEFORE_ACCESS, NULL);
	leaf = indirect_leaf(mr, &addr, &part);
	if (part < length || !has_memory(leaf) ||
	    mr_spans(leaf, addr, length, &span, 1, &walked) != 1 || walked < length ||
	    span.space != CORE_SPACE_DEVICE)
		return NULL;
	return dev->ops->mem_map(leaf->obj.client->cookie, &span, dst);
}

const void *sgl_map(const struct sgl *l, uint64_t offset, uint32_t length, const uint8_t dst[16])
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct uhca_abi_sge *s = &l->sge[i];
		struct mr *mr;

		if (offset >= s->length) {
			offset -= s->length;
			continue;
		}
		if (length > s->length - offset ||
		    mr_check(l->pd, s->lkey, s->addr + offset, length, 0, &mr) != MR_OK)
			return NULL;
		return sgl_map_mr(l->dev, mr, s->addr + offset, length, dst);
	}
	return NULL;
}

/* What is still to be moved of a list: [offset, end). */
struct list_walk {
	const struct sgl *list;
	uint64_t offset, end;
	uint64_t before; /* bytes of the elements before i */
	unsigned i;
};

/* Its bytes in one element. */
struct list_part {
	struct mr *mr;
	uint64_t addr;
	uint32_t length;
};

/* The next of them, for access need; -EFAULT: it is not accessible, or the list ends. */
static int next_part(struct list_walk *w, uint32_t need, struct list_part *p)
{
	while (w->i < w->list->n) {
		const struct uhca_abi_sge *s = &w->list->sge[w->i++];
		uint32_t start = 0;

		p->length = element_part(s, w->before, w->offset, w->end, &start);
		w->before += s->length;
		p->addr = s->addr + start;
		if (!p->length)
			continue;
		if (mr_check(w->list->pd, s->lkey, p->addr, p->length, need, &p->mr) != MR_OK)
			return -EFAULT;
		return 0;
	}
	return -EFAULT;
}

int sgl_read(const struct sgl *l, uint64_t offset, uint32_t length, void *to)
{
	struct list_walk w = {.list = l, .offset = offset, .end = offset + length};
	char *at = to;

	while (length) {
		struct list_part p;
		int err = next_part(&w, 0, &p);

		if (!err)
			err = sgl_read_mr(l->dev, p.mr, p.addr, p.length, at);
		if (err)
			return err;
		at += p.length;
		length -= p.length;
	}
	return 0;
}

int sgl_write(const struct sgl *l, uint64_t offset, const struct iovec *from, unsigned n_from)
{
	uint32_t length = sgl_iov_length(from, n_from);
	struct list_walk w = {.list = l, .offset = offset, .end = offset + length};
	struct iov_cursor c = {from, n_from, 0};

	while (length) {
		struct list_part p;
		int err = next_part(&w, MR_LOCAL_WRITE, &p);

		if (!err)
			err = write_pieces(l->dev, p.mr, p.addr, p.length, &c, false);
		if (err)
			return err;
		length -= p.length;
	}
	return 0;
}
