/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One client: a connection to the control socket and, after HELLO, everything that a process's
 * opened context needs of the shell. Owner: the daemon. The core's client holds a pointer to it
 * as its cookie and never outlives it.
 */
#ifndef IO_CLIENT_H
#define IO_CLIENT_H

#include "channel.h"
#include "channel_table.h"
#include "doorbell.h"
#include "emu/abi/region.h"
#include "emu/core/core.h"
#include "emu/io/capture/captures.h"
#include "emu/io/device/devices.h"
#include "emu/io/local/local.h"
#include "emu/io/mem/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

struct io_clients;

struct io_client {
	struct io_clients *all; /* that it is one of */
	uint32_t id;
	int sock;  /* owned; -1 when it has left */
	bool gone; /* it has left: its memory is another's now, or nobody's */
	TAILQ_ENTRY(io_client) leaving;
	struct io_leak leak; /* what is told of its end */
	struct ucred peer;
	struct io_watch readable;
	struct io_slow_calls slow; /* its call that waits, if one does */
	/* From here on zero until HELLO. */
	struct io_device *dev;
	struct client *core;
	char program[33];
	uint8_t token[UHCA_ABI_TOKEN_SIZE]; /* by which others join; zero: not asked for yet */
	struct io_mem mem;
	struct io_arena arena;   /* memory of the process that is mapped here, too */
	struct io_shm doorbell;  /* struct uhca_abi_doorbell */
	struct io_doorbell bell; /* what stands there */
	/* How its doorbells are heard (active_doorbells.h). */
	TAILQ_ENTRY(io_client) look; /* of those who are watched */
	bool watched;
	uint32_t paused;        /* summary words that are not looked at (io_client_pause) */
	uint32_t active_number; /* its number there; UHCA_ABI_ACTIVE_DOORBELLS: none */
	uint64_t rang;          /* when it did last, or was first watched */
	int event_fd;           /* owned; -1 before HELLO */
	struct io_watch event;
	struct io_channel async;
	struct io_channel_table channels;
	struct io_xrcd_files xrcd_files;
};

/*
 * A client of a fresh connection; takes over sock, which is watched for messages from now on and
 * closed on failure too. NULL when there is no memory.
 */
struct io_client *io_client_create(struct io_clients *all, int sock, const struct ucred *peer);

/* Its messages are listened to (again), after io_watch_stop. */
void io_client_listen(struct io_client *c);

/*
 * The connection ends, however it ends: the client is heard no more, its memory is not touched any
 * more. What it had is still there; io_client_end frees it.
 */
void io_client_leave(struct io_client *c);

/*
 * The next part of the end of a client that has left (core_client_leave). True when all that it had
 * is freed, and free(3) may follow.
 */
bool io_client_end(struct io_client *c, uint32_t steps);

/* All of that, at once. */
void io_client_destroy(struct io_client *c);

/* What HELLO brings; descriptors are taken over in any case. */
struct io_client_hello {
	struct io_device *dev;
	const char *program; /* up to 32 bytes, need not be terminated */
	int mem_fd;
	int async_fd;
};

/*
 * Opens the device for the client. 0 or -errno: EINVAL for descriptors of the wrong kind,
 * ENOMEM, EMFILE; the client is then as before.
 */
int io_client_hello(struct io_client *c, const struct io_client_hello *hello);

/* New work in the rings of this client? Hands each doorbell to the core; returns how many. */
uint32_t io_client_doorbells(struct io_client *c, uint64_t now);

/* While on its doorbells are not heard; those that ring meanwhile are served afterwards. */
void io_client_pause(struct io_client *c, bool on);

static inline bool io_client_rang(const struct io_client *c)
{
	return io_doorbell_pending(&c->bell);
}

#endif
