/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See channel_table.h. Slots are allocated one by one and never move: each holds watchers that
 * the loop points to.
 */
#include "channel_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define INDEX_BITS 16
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

struct io_channel_slot {
	struct io_channel ch;
	struct io_channel_table *table;
	uint32_t generation;
	bool open;
};

void io_channel_table_init(struct io_channel_table *t, struct ev_loop *loop)
{
	*t = (struct io_channel_table){.loop = loop};
}

static void close_slot(struct io_channel_slot *s)
{
	if (!s->open)
		return;
	io_channel_close(&s->ch);
	s->open = false;
	s->generation++;
	s->table->count--;
}

static void on_gone(struct io_channel *ch, void *arg)
{
	(void)ch;
	close_slot(arg);
}

void io_channel_table_destroy(struct io_channel_table *t)
{
	for (uint32_t i = 0; i < t->n_slots; i++) {
		close_slot(t->slot[i]);
		free(t->slot[i]);
	}
	free(t->slot);
	io_channel_table_init(t, t->loop);
}

static int add_slot(struct io_channel_table *t)
{
	struct io_channel_slot **slot;

	if (t->n_slots == IO_CHANNELS_MAX)
		return -EMFILE;
	slot = realloc(t->slot, (t->n_slots + 1) * sizeof(struct io_channel_slot *));
	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	slot[t->n_slots] = calloc(1, sizeof(struct io_channel_slot));
	if (!slot[t->n_slots])
		return -ENOMEM;
	slot[t->n_slots++]->table = t;
	return 0;
}

static int find_free(struct io_channel_table *t, uint32_t *index)
{
	for (*index = 0; *index < t->n_slots; ++*index)
		if (!t->slot[*index]->open)
			return 0;
	return add_slot(t);
}

int io_channel_table_add(struct io_channel_table *t, int fd, uint32_t *handle)
{
	struct io_channel_slot *s;
	uint32_t index;
	int error = find_free(t, &index);

	if (error < 0)
		return error;
	s = t->slot[index];
	error = io_channel_open(&s->ch, t->loop, fd, sizeof(struct uhca_abi_comp_event));
	if (error < 0)
		return error;
	io_channel_on_gone(&s->ch, on_gone, s);
	s->open = true;
	t->count++;
	*handle = (s->generation & INDEX_MASK) << INDEX_BITS | (index + 1);
	return 0;
}

static struct io_channel_slot *find(const struct io_channel_table *t, uint32_t handle)
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
	struct io_channel_slot *s = find(t, handle);

	return s ? &s->ch : NULL;
}

int io_channel_table_remove(struct io_channel_table *t, uint32_t handle)
{
	struct io_channel_slot *s = find(t, handle);

	if (!s)
		return -ENOENT;
	close_slot(s);
	return 0;
}
