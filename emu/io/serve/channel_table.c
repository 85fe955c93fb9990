/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See channel_table.h. Slots are allocated one by one and never move: each holds a watch that the
 * set of watches points to.
 */
#include "channel_table.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define INDEX_BITS 16
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

struct io_channel_slot {
	struct io_channel ch;
	struct io_channel_table *table;
	struct io_channel_slot *next_free;
	uint32_t index;
	uint32_t generation;
	bool open;
};

void io_channel_table_init(struct io_channel_table *t, struct io_watches *watches)
{
	*t = (struct io_channel_table){.watches = watches};
}

static void add_free(struct io_channel_slot *s)
{
	s->next_free = s->table->free;
	s->table->free = s;
}

static void close_slot(struct io_channel_slot *s)
{
	if (!s->open)
		return;
	io_channel_close(&s->ch);
	s->open = false;
	s->generation++;
	s->table->count--;
	add_free(s);
}

static void on_gone(struct io_channel *ch, void *arg)
{
	(void)ch;
	close_slot(arg);
}

bool io_channel_table_close(struct io_channel_table *t, uint32_t most)
{
	while (t->n_slots > 0 && most-- > 0) {
		struct io_channel_slot *s = t->slot[--t->n_slots];

		close_slot(s);
		free(s);
	}
	t->free = NULL; /* it led to slots that are gone */
	return t->n_slots == 0;
}

void io_channel_table_destroy(struct io_channel_table *t)
{
	io_channel_table_close(t, UINT32_MAX);
	free(t->slot);
	io_channel_table_init(t, t->watches);
}

static int add_slot(struct io_channel_table *t)
{
	struct io_channel_slot **slot;
	struct io_channel_slot *s;

	if (t->n_slots == IO_CHANNELS_MAX)
		return io_refuse(-EMFILE,
				 "the context has reached its limit of completion channels");
	slot = realloc(t->slot, (t->n_slots + 1) * sizeof(struct io_channel_slot *));
	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->table = t;
	s->index = t->n_slots;
	slot[t->n_slots++] = s;
	add_free(s);
	return 0;
}

int io_channel_table_add(struct io_channel_table *t, int fd, uint32_t *handle)
{
	int error = t->free ? 0 : add_slot(t);
	struct io_channel_slot *s = t->free;

	if (error < 0)
		return error;
	error = io_channel_open(&s->ch, t->watches, fd, sizeof(struct uhca_abi_comp_event));
	if (error < 0)
		return error;
	t->free = s->next_free;
	s->ch.gone = on_gone;
	s->ch.arg = s;
	s->open = true;
	t->count++;
	*handle = (s->generation & INDEX_MASK) << INDEX_BITS | (s->index + 1);
	return 0;
}

static struct io_channel_slot *channel_slot_find(const struct io_channel_table *t, uint32_t handle)
{
	uint32_t index = (handle & INDEX_MASK) - 1;
	struct io_channel_slot *s;

	if (index >= t->n_slots)
		return NULL;
	s = t->slot[index];
	return s->open && (s->generation & INDEX_MASK) == handle >> INDEX_BITS ? s : NULL;
}

struct io_channel *io_channel_table_get(const struct io_channel_table *t, uint32_t handle)
{
	struct io_channel_slot *s = channel_slot_find(t, handle);

	return s ? &s->ch : NULL;
}

int io_channel_table_remove(struct io_channel_table *t, uint32_t handle)
{
	struct io_channel_slot *s = channel_slot_find(t, handle);

	if (!s)
		return io_refuse(-ENOENT, "the handle is not a completion channel of this context");
	close_slot(s);
	return 0;
}
