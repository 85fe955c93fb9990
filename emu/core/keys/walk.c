/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translation of a memory region for people: from a key through the descriptions of described
 * keys to a region, and from an offset in the region to a page and a byte in it. The steps are
 * those of mr_check, indirect_step and page_array_walk; nothing is accessed.
 */
#include "emu/core/contract/walk.h"
#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"
#include "mr.h"
#include "mw.h"

#include <errno.h>
#include <string.h>

static const char *kind_name(enum mr_kind kind)
{
	switch (kind) {
	case MR_KIND_MEMORY:
		return "registered memory";
	case MR_KIND_IMPLICIT:
		return "the whole address space, on demand";
	case MR_KIND_DEVICE:
		return "device memory";
	case MR_KIND_NULL:
		return "nothing";
	case MR_KIND_LOST:
		return "memory of a program that has ended";
	case MR_KIND_INDIRECT:
		return "nothing: the key is invalid"; /* a described one is no end of the way */
	}
	return "unknown";
}

/* ---- descriptions ---- */

static struct core_walk_entry entry_of(const struct mr *mr, uint64_t i)
{
	const struct indirect *ind = mr->ind;
	uint64_t end;

	switch (ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		return (struct core_walk_entry){i, ind->page[i], 1ull << ind->page_shift,
						ind->base->key};
	case UHCA_ABI_SHAPE_INTERLEAVED:
		return (struct core_walk_entry){i, ind->piece[i].addr, ind->piece[i].bytes,
						ind->piece[i].child->key};
	default:
		end = i + 1 < ind->n ? ind->block[i + 1].start : mr->pages.length;
		return (struct core_walk_entry){i, ind->block[i].addr, end - ind->block[i].start,
						ind->block[i].child->key};
	}
}

static void show_piece(const struct mr *mr, uint64_t i, struct core_walk_step *s)
{
	if (i >= s->n || (s->n_shown && i <= s->shown[s->n_shown - 1].index))
		return;
	s->shown[s->n_shown++] = entry_of(mr, i);
}

static void explain_pages(const struct indirect *ind, struct core_walk_step *s)
{
	uint64_t position = ind->first_offset + s->offset;

	s->page_shift = ind->page_shift;
	s->first_offset = ind->first_offset;
	s->entry = position >> ind->page_shift;
	s->in_entry = position & ((1ull << ind->page_shift) - 1);
}

static void explain_blocks(const struct indirect *ind, struct core_walk_step *s)
{
	while (s->entry + 1 < ind->n && ind->block[s->entry + 1].start <= s->offset)
		s->entry++;
	s->in_entry = s->offset - ind->block[s->entry].start;
}

static void explain_interleaved(const struct indirect *ind, struct core_walk_step *s)
{
	uint64_t in_round = s->offset % ind->round, left;

	s->round = ind->round;
	s->repeat = left = s->offset / ind->round;
	while (s->entry + 1 < ind->n && ind->piece[s->entry + 1].start <= in_round)
		s->entry++;
	s->in_entry = in_round - ind->piece[s->entry].start;
	s->n_dims = ind->n_dims;
	for (unsigned d = ind->n_dims; d-- > 0; left /= ind->count[d]) {
		s->count[d] = ind->count[d];
		s->index[d] = left % ind->count[d];
		s->stride[d] = ind->piece[s->entry].stride[d];
	}
}

static void explain(const struct indirect *ind, struct core_walk_step *s)
{
	switch (ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		explain_pages(ind, s);
		break;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		explain_interleaved(ind, s);
		break;
	default:
		explain_blocks(ind, s);
		break;
	}
}

/* Where the byte is found comes from the device's own step; the rest tells how. */
static const struct mr *step_down(const struct mr *mr, uint64_t *offset, struct core_walk_step *s)
{
	const struct mr *child = indirect_step(mr, mr->iova + *offset, mr->pages.length - *offset,
					       &s->child_addr, &s->part);

	s->key = mr->key;
	s->access = mr->access;
	s->shape = mr->ind->shape;
	s->name = indirect_shape_name(mr->ind->shape);
	s->depth = mr->ind->depth;
	s->iova = mr->iova;
	s->length = mr->pages.length;
	s->offset = *offset;
	s->n = mr->ind->n;
	explain(mr->ind, s);
	for (uint64_t i = 0; i < 3; i++)
		show_piece(mr, i, s);
	for (uint64_t i = s->entry ? s->entry - 1 : 0; i <= s->entry + 1; i++)
		show_piece(mr, i, s);
	show_piece(mr, s->n - 1, s);
	s->child_key = child->key;
	*offset = s->child_addr - child->iova;
	return child;
}

static const struct mr *descend(const struct mr *mr, uint64_t *offset, struct core_walk *w)
{
	while (mr->kind == MR_KIND_INDIRECT && mr->ind->shape && w->n_steps < UHCA_ABI_MAX_DEPTH)
		mr = step_down(mr, offset, &w->step[w->n_steps++]);
	return mr;
}

/* ---- the region at the end ---- */

static bool is_shared(const struct mr *mr)
{
	return mr->kind == MR_KIND_DEVICE && mr->dm->shared;
}

static void describe(const struct mr *mr, struct core_walk *w)
{
	const struct page_array *pa = &mr->pages;

	w->client = mr->obj.client ? mr->obj.client->cookie : NULL;
	w->region_key = mr->key;
	w->kind = is_shared(mr) ? "shared memory" : kind_name(mr->kind);
	w->iova = mr->iova;
	w->length = pa->length;
	w->page_shift = pa->page_shift;
	w->first_offset = pa->first_offset;
	w->n_pages = pa->n_pages;
	w->leaf_entries = pa->leaf ? PAGE_ARRAY_FLAT : 0;
}

static void describe_window(const struct mw *mw, struct core_walk *w)
{
	w->window = true;
	w->window_of = mw->mr->key;
	w->window_offset = mw->addr - mw->mr->iova;
	w->window_length = mw->length;
	w->access = mw->access;
}

/* The region behind a key, and the offset in it. */
static int walk_region_find(struct device *dev, uint32_t key, uint64_t *offset,
			    const struct mw **window, const struct mr **region)
{
	const struct object *o = table_find(&dev->mrs, key >> 8);
	const struct mw *mw = (const void *)o;
	const struct mr *mr = (const void *)o;

	*window = NULL;
	if (!o || (o->kind == KEY_MW ? mw->key != key : !mr_is_named(mr, key)))
		return -ENOENT;
	if (o->kind == KEY_MW) {
		if (!mw->mr)
			return -EINVAL;
		if (*offset && *offset >= mw->length)
			return -ERANGE;
		*window = mw;
		mr = mw->mr;
		*offset += mw->addr - mr->iova;
	}
	*region = mr;
	return *offset && *offset >= mr->pages.length ? -ERANGE : 0;
}

static void show_entry(const struct page_array *pa, uint64_t i, struct core_walk *w)
{
	if (i >= pa->n_pages || (w->n_shown && i <= w->shown[w->n_shown - 1].index))
		return;
	w->shown[w->n_shown].index = i;
	w->shown[w->n_shown].page = page_array_entry(pa, i);
	w->n_shown++;
}

/* The first ones, those around the entry that is used, and the last. */
static void show_entries(const struct page_array *pa, struct core_walk *w)
{
	for (uint64_t i = 0; i < 3; i++)
		show_entry(pa, i, w);
	if (w->entry)
		show_entry(pa, w->entry - 1, w);
	show_entry(pa, w->entry, w);
	show_entry(pa, w->entry + 1, w);
	show_entry(pa, pa->n_pages - 1, w);
}

static void walk_pages(const struct mr *mr, uint64_t offset, struct core_walk *w)
{
	const struct page_array *pa = &mr->pages;

	/* Shared memory is named by the program's addresses, unless it is zero based. */
	if (mr->kind == MR_KIND_IMPLICIT || (is_shared(mr) && !(mr->access & MR_ZERO_BASED))) {
		w->has_byte = true;
		w->byte = mr->iova + offset;
	}
	if (pa->n_pages == 0)
		return;
	w->position = pa->first_offset + offset;
	w->entry = w->position >> pa->page_shift;
	w->in_page = w->position & ((1ull << pa->page_shift) - 1);
	show_entries(pa, w);
	w->has_byte = mr->kind == MR_KIND_MEMORY;
	w->byte = page_array_entry(pa, w->entry) + w->in_page;
}

int core_walk_mr(struct device *dev, uint32_t key, uint64_t offset, struct core_walk *w)
{
	const struct mw *mw;
	const struct mr *mr;
	int err = walk_region_find(dev, key, &offset, &mw, &mr);

	if (err)
		return err;
	memset(w, 0, sizeof(*w));
	w->index = key >> 8;
	w->key_byte = key & 0xff;
	w->pd = mr->pd->obj.handle;
	w->access = mr->access;
	if (mw)
		describe_window(mw, w);
	mr = descend(mr, &offset, w);
	w->invalid = mr->kind == MR_KIND_INDIRECT;
	describe(mr, w);
	w->region_offset = offset;
	walk_pages(mr, offset, w);
	return 0;
}
