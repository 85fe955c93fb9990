/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients of a daemon: who has connected to its socket and is still there, and what each of
 * them needs of the daemon.
 */
#ifndef IO_CLIENTS_H
#define IO_CLIENTS_H

#include "active_doorbells.h"
#include "client.h"
#include "emu/io/capture/captures.h"
#include "emu/io/local/local.h"

/* Who has a say in what clients do. */
struct io_clients_ops {
	/* A control message of the right size, whose command has this name, is to be served. */
	struct io_call_fault (*judge)(void *user, struct io_client *c, const char *name,
				      const void *msg);
	/* A QP was reset: nothing of it completes any more. */
	void (*reset)(void *user, struct io_device *dev, uint32_t qpn);
};

struct io_clients {
	struct ev_loop *loop;
	struct io_watches *watches; /* descriptors that clients have, too */
	struct io_idle_timeout *idle_timeout;
	const struct io_devices *devices;
	struct io_tracer *tracer;
	enum io_mem_mode mem;
	uint32_t pin; /* enum uhca_abi_pin */
	struct io_active_doorbells active_doorbells;
	int status_fd; /* struct uhca_abi_status, which each client gets */
	const struct io_clients_ops *ops;
	void *user; /* of ops */
	struct io_client **at;
	unsigned n;
	TAILQ_HEAD(io_leavers, io_client)
	leavers;        /* no more in at; the first one's end has begun */
	uint32_t last;  /* id */
	unsigned lost;  /* arenas that had lost pages at the last look */
	uint64_t heard; /* messages that came, of whatever kind */
};

/* Whoever connects, as struct io_listener has it; arg: struct io_clients. */
void io_clients_add(void *arg, int sock, const struct ucred *peer);

/* Before all else, with the other members set. 0 or -errno of io_active_doorbells_open. */
int io_clients_open(struct io_clients *all);

/*
 * Takes the client off the list: it is heard no more. What it had is freed from now on, by
 * io_clients_bury, a part of it at once.
 */
void io_clients_remove(struct io_clients *all, struct io_client *c);

/*
 * Goes on freeing what those who left have had, one after the other, for a fraction of a
 * millisecond (design D16). False when there was nothing to do.
 */
bool io_clients_bury(struct io_clients *all);

/* Disconnects those whose arena has lost pages that they had registered (arena_watch.h). */
void io_clients_end_lost(struct io_clients *all);

/* Disconnects all who have opened the device; returns how many there were. */
unsigned io_clients_remove_of(struct io_clients *all, const struct io_device *dev);

/* Doorbells of all who have opened the device are heard no more, or again; bits that are set stay.
 */
void io_clients_pause_of(struct io_clients *all, const struct io_device *dev, bool on);

/* Serves once more what those who ended just now have left, and ends all. */
void io_clients_close(struct io_clients *all);

#endif
