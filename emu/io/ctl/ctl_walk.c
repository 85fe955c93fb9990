/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk from a key to memory, for uhcactl show mr KEY. See ctl_handler.h. */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/io/serve/serve.h"

#include <errno.h>
#include <inttypes.h>

static void json_set_number(json_t *to, const char *name, uint64_t number)
{
	json_object_set_new(to, name, json_integer((json_int_t)number));
}

static json_t *entries(const struct core_walk *w)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < w->n_shown; i++) {
		json_t *entry = json_object();

		json_set_number(entry, "index", w->shown[i].index);
		json_set_number(entry, "page", w->shown[i].page);
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

		json_set_number(entry, "index", s->shown[i].index);
		json_set_number(entry, "addr", s->shown[i].addr);
		json_set_number(entry, "bytes", s->shown[i].bytes);
		json_set_number(entry, UHCA_CTL_KEY, s->shown[i].key);
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *dims_of(const struct core_walk_step *s)
{
	json_t *list = json_array();

	for (unsigned d = 0; d < s->n_dims; d++) {
		json_t *dim = json_object();

		json_set_number(dim, "count", s->count[d]);
		json_set_number(dim, "index", s->index[d]);
		json_set_number(dim, "stride", (uint64_t)s->stride[d]);
		json_array_append_new(list, dim);
	}
	return list;
}

static json_t *step(const struct core_walk_step *s)
{
	json_t *o = json_object();

	json_set_number(o, UHCA_CTL_KEY, s->key);
	json_object_set_new(o, "shape", json_string(s->name));
	json_set_number(o, "depth", s->depth);
	json_set_number(o, "access", s->access);
	json_set_number(o, "iova", s->iova);
	json_set_number(o, "length", s->length);
	json_set_number(o, UHCA_CTL_OFFSET, s->offset);
	json_set_number(o, "n", s->n);
	json_set_number(o, "entry", s->entry);
	json_set_number(o, "in_entry", s->in_entry);
	if (s->shape == UHCA_ABI_SHAPE_PAGES) {
		json_set_number(o, "page_shift", s->page_shift);
		json_set_number(o, "first_offset", s->first_offset);
	}
	if (s->shape == UHCA_ABI_SHAPE_INTERLEAVED) {
		json_set_number(o, "round", s->round);
		json_set_number(o, "repeat", s->repeat);
		json_object_set_new(o, "dims", dims_of(s));
	}
	json_set_number(o, "child_key", s->child_key);
	json_set_number(o, "child_addr", s->child_addr);
	json_set_number(o, "part", s->part);
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
	json_set_number(o, "region_key", w->region_key);
	json_set_number(o, "region_offset", w->region_offset);
	json_object_set_new(o, "kind", json_string(w->kind));
	json_set_number(o, "iova", w->iova);
	json_set_number(o, "length", w->length);
	json_set_number(o, "page_size", w->n_pages ? 1ull << w->page_shift : 0);
	json_set_number(o, "page_shift", w->page_shift);
	json_set_number(o, "first_offset", w->first_offset);
	json_set_number(o, "n_pages", w->n_pages);
	json_set_number(o, "leaf_entries", w->leaf_entries);
	json_set_number(o, "position", w->position);
	json_set_number(o, "entry", w->entry);
	json_set_number(o, "in_page", w->in_page);
	if (w->has_byte)
		json_set_number(o, "byte", w->byte);
	json_object_set_new(o, "shown", entries(w));
}

static json_t *facts(const char *device, const struct core_walk *w, uint64_t key, uint64_t offset)
{
	const struct io_client *c = w->client;
	json_t *o = json_object();

	json_object_set_new(o, UHCA_CTL_DEVICE, json_string(device));
	json_object_set_new(o, "program", json_string(c ? c->program : "nobody"));
	json_set_number(o, "client", c ? c->id : 0);
	json_set_number(o, UHCA_CTL_KEY, key);
	json_set_number(o, "index", w->index);
	json_set_number(o, "key_byte", w->key_byte);
	json_set_number(o, "pd", w->pd);
	json_set_number(o, "access", w->access);
	if (w->invalid)
		json_object_set_new(o, "invalid", json_true());
	json_set_number(o, UHCA_CTL_OFFSET, offset);
	if (w->window) {
		json_set_number(o, "window_of", w->window_of);
		json_set_number(o, "window_offset", w->window_offset);
		json_set_number(o, "window_length", w->window_length);
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
