/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk from a key to memory, for uhcactl show mr KEY. See ctl_handler.h. */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/io/serve/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put(json_t *to, const char *name, uint64_t number)
{
	json_object_set_new(to, name, json_integer((json_int_t)number));
}

static json_t *entries(const struct core_walk *w)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < w->n_shown; i++) {
		json_t *entry = json_object();

		put(entry, "index", w->shown[i].index);
		put(entry, "page", w->shown[i].page);
		json_array_append_new(list, entry);
	}
	return list;
}

/* The list of a description, the entries that are shown. */
static json_t *list_of(const struct core_walk_step *s)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < s->n_shown; i++) {
		json_t *entry = json_object();

		put(entry, "index", s->shown[i].index);
		put(entry, "addr", s->shown[i].addr);
		put(entry, "bytes", s->shown[i].bytes);
		put(entry, UHCA_CTL_KEY, s->shown[i].key);
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *dims_of(const struct core_walk_step *s)
{
	json_t *list = json_array();

	for (unsigned d = 0; d < s->n_dims; d++) {
		json_t *dim = json_object();

		put(dim, "count", s->count[d]);
		put(dim, "index", s->index[d]);
		put(dim, "stride", (uint64_t)s->stride[d]);
		json_array_append_new(list, dim);
	}
	return list;
}

static json_t *step(const struct core_walk_step *s)
{
	json_t *o = json_object();

	put(o, UHCA_CTL_KEY, s->key);
	json_object_set_new(o, "shape", json_string(s->name));
	put(o, "depth", s->depth);
	put(o, "access", s->access);
	put(o, "iova", s->iova);
	put(o, "length", s->length);
	put(o, UHCA_CTL_OFFSET, s->offset);
	put(o, "n", s->n);
	put(o, "entry", s->entry);
	put(o, "in_entry", s->in_entry);
	if (s->shape == UHCA_ABI_SHAPE_PAGES) {
		put(o, "page_shift", s->page_shift);
		put(o, "first_offset", s->first_offset);
	}
	if (s->shape == UHCA_ABI_SHAPE_INTERLEAVED) {
		put(o, "round", s->round);
		put(o, "repeat", s->repeat);
		json_object_set_new(o, "dims", dims_of(s));
	}
	put(o, "child_key", s->child_key);
	put(o, "child_addr", s->child_addr);
	put(o, "part", s->part);
	json_object_set_new(o, "shown", list_of(s));
	return o;
}

static json_t *steps(const struct core_walk *w)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < w->n_steps; i++)
		json_array_append_new(list, step(&w->step[i]));
	return list;
}

/* The region at the end of the way. */
static void put_region(json_t *o, const struct core_walk *w)
{
	put(o, "region_key", w->region_key);
	put(o, "region_offset", w->region_offset);
	json_object_set_new(o, "kind", json_string(w->kind));
	put(o, "iova", w->iova);
	put(o, "length", w->length);
	put(o, "page_size", w->n_pages ? 1ull << w->page_shift : 0);
	put(o, "page_shift", w->page_shift);
	put(o, "first_offset", w->first_offset);
	put(o, "n_pages", w->n_pages);
	put(o, "leaf_entries", w->leaf_entries);
	put(o, "position", w->position);
	put(o, "entry", w->entry);
	put(o, "in_page", w->in_page);
	if (w->has_byte)
		put(o, "byte", w->byte);
	json_object_set_new(o, "shown", entries(w));
}

static json_t *facts(const char *device, const struct core_walk *w, uint64_t key, uint64_t offset)
{
	const struct io_client *c = w->client;
	json_t *o = json_object();

	json_object_set_new(o, UHCA_CTL_DEVICE, json_string(device));
	json_object_set_new(o, "program", json_string(c ? c->program : "nobody"));
	put(o, "client", c ? c->id : 0);
	put(o, UHCA_CTL_KEY, key);
	put(o, "index", w->index);
	put(o, "key_byte", w->key_byte);
	put(o, "pd", w->pd);
	put(o, "access", w->access);
	if (w->invalid)
		json_object_set_new(o, "invalid", json_true());
	put(o, UHCA_CTL_OFFSET, offset);
	if (w->window) {
		put(o, "window_of", w->window_of);
		put(o, "window_offset", w->window_offset);
		put(o, "window_length", w->window_length);
	}
	json_object_set_new(o, "steps", steps(w));
	put_region(o, w);
	return o;
}

json_t *io_ctl_walk(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const json_t *key = json_object_get(request, UHCA_CTL_KEY);
	const json_t *offset = json_object_get(request, UHCA_CTL_OFFSET);
	uint64_t at = (uint64_t)json_integer_value(offset);
	uint32_t number = (uint32_t)json_integer_value(key);
	struct core_walk w;

	if (!json_is_integer(key) || (offset && !json_is_integer(offset)))
		return io_ctl_refuse(o, "walk needs the numbers \"%s\" and \"%s\"", UHCA_CTL_KEY,
				     UHCA_CTL_OFFSET);
	for (unsigned i = 0; i < h->devices->n && json_integer_value(key) == (json_int_t)number;
	     i++) {
		int error = core_walk_mr(h->devices->at[i]->core, number, at, &w);

		if (error == 0)
			return facts(h->devices->at[i]->id.name, &w, number, at);
		if (error == -EINVAL)
			return io_ctl_refuse(o, "the window of key 0x%" PRIx32 " is not bound",
					     number);
		if (error == -ERANGE)
			return io_ctl_refuse(o,
					     "the region of key 0x%" PRIx32
					     " is shorter than %" PRIu64 " bytes",
					     number, at);
	}
	return io_ctl_refuse(o, "no device has a region with key 0x%llx",
			     (unsigned long long)json_integer_value(key));
}
