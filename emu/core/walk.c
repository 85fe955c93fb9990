/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translation of a memory region for people: from a key to the region's page array, and from
 * an offset in the region to a page and a byte in it. The steps are those of mr_check and
 * page_array_walk; nothing is accessed.
 */
#include "client.h"
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
		return "pieces of other regions";
	}
	return "unknown";
}

static void describe(const struct mr *mr, struct core_walk *w)
{
	const struct page_array *pa = &mr->pages;

	w->client = mr->obj.client ? mr->obj.client->cookie : NULL;
	w->region_key = mr->key;
	w->pd = mr->pd->obj.handle;
	w->access = mr->access;
	w->kind = kind_name(mr->kind);
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
	w->window_offset = mw->addr - mw->mr->iova;
	w->window_length = mw->length;
	w->access = mw->access;
}

/* The region behind a key, and the offset in it. */
static int find(struct device *dev, uint32_t key, uint64_t *offset, const struct mw **window,
		const struct mr **region)
{
	const struct object *o = table_find(&dev->mrs, key >> 8);
	const struct mw *mw = (const void *)o;
	const struct mr *mr = (const void *)o;

	*window = NULL;
	if (!o || (o->kind == KEY_MW ? mw->key : mr->key) != key)
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

int core_walk_mr(struct device *dev, uint32_t key, uint64_t offset, struct core_walk *w)
{
	const struct page_array *pa;
	const struct mw *mw;
	const struct mr *mr;
	int err = find(dev, key, &offset, &mw, &mr);

	if (err)
		return err;
	memset(w, 0, sizeof(*w));
	w->index = key >> 8;
	w->key_byte = key & 0xff;
	describe(mr, w);
	if (mw)
		describe_window(mw, w);
	pa = &mr->pages;
	if (pa->n_pages == 0)
		return 0;
	w->position = pa->first_offset + offset;
	w->entry = w->position >> pa->page_shift;
	w->in_page = w->position & ((1ull << pa->page_shift) - 1);
	show_entries(pa, w);
	w->byte = page_array_entry(pa, w->entry) + w->in_page;
	return 0;
}
