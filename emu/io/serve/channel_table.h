/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completion channels of one client, by handle. A handle is slot and generation; 0 is none.
 * A channel whose other end the program has closed leaves the table by itself, and what is sent
 * to its handle from then on is lost, as the program wished.
 */
#ifndef IO_CHANNEL_TABLE_H
#define IO_CHANNEL_TABLE_H

#include "channel.h"

#include <stdint.h>

#define IO_CHANNELS_MAX 4096 /* of one client */

struct io_channel_slot;

struct io_channel_table {
	struct io_watches *watches;
	struct io_channel_slot **slot;
	uint32_t n_slots;
	uint32_t count;               /* open channels */
	struct io_channel_slot *free; /* closed ones, last closed first */
};

void io_channel_table_init(struct io_channel_table *t, struct io_watches *watches);

/* Closes up to "most" of those that are there, of a table to which none is added. True: all. */
bool io_channel_table_close(struct io_channel_table *t, uint32_t most);

/* Closes all. */
void io_channel_table_destroy(struct io_channel_table *t);

/*
 * Takes over fd. 0, -EINVAL (not a SEQPACKET socket), -ENOMEM, -EMFILE (too many) or -errno (it
 * cannot be watched); fd is still the caller's then.
 */
int io_channel_table_add(struct io_channel_table *t, int fd, uint32_t *handle);

/* NULL for a handle that names no open channel. */
struct io_channel *io_channel_table_get(const struct io_channel_table *t, uint32_t handle);

/* 0 or -ENOENT. */
int io_channel_table_remove(struct io_channel_table *t, uint32_t handle);

#endif
