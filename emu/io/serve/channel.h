/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels: SEQPACKET sockets whose other end a client reads (event.h). Records go out at
 * once while the socket takes them and wait in the daemon while it is full; a record that is
 * already waiting is not queued twice, so that what waits is bounded by the objects a client
 * has. A channel whose other end is closed is gone: libibverbs closes completion channels
 * without telling anybody (reference: ibv_destroy_comp_channel is a close).
 */
#ifndef IO_CHANNEL_H
#define IO_CHANNEL_H

#include "emu/abi/event.h"
#include "emu/io/local/local.h"
#include "record_queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest record. */
#define IO_CHANNEL_RECORD sizeof(struct uhca_abi_async_event)

struct io_channel {
	int fd;                /* owned; -1 when gone */
	size_t record;         /* bytes of one record: 8 or 16 */
	struct io_watch watch; /* tells when the other end is closed, and of room for what waits */
	struct io_record_queue waiting;
	/* Set when it is open, or NULL: the other end is closed. May close the channel. */
	void (*gone)(struct io_channel *ch, void *arg);
	void *arg;
};

/*
 * Takes over fd, which must be a Unix SEQPACKET socket. 0, -EINVAL (another kind of descriptor) or
 * -errno (it cannot be watched); it is not closed then.
 */
int io_channel_open(struct io_channel *ch, struct io_watches *watches, int fd, size_t record);

/* Closes the descriptor and forgets what waits. Idempotent. */
void io_channel_close(struct io_channel *ch);

/*
 * Sends one record, or queues it unless an equal one waits. A gone channel swallows it. True when
 * the record was sent or queued.
 */
bool io_channel_send(struct io_channel *ch, const void *record);

/* Takes back waiting records whose first eight bytes (cookie or element) are these: how many. */
uint32_t io_channel_purge(struct io_channel *ch, uint64_t first);

#endif
