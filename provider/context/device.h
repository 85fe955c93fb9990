/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An opened device: the connection to the daemon, what is shared with it, and what the data path
 * needs of both. It lives from ibv_open_device to ibv_close_device beside the library's own
 * context (driver.c finds one from the other).
 *
 * A context dies at most once: because the daemon is gone (FATAL: the application gets
 * DEVICE_FATAL, its outstanding work is flushed, every verb returns EIO, destroying still works),
 * or because this process is a fork's child (FORKED: everything belongs to the parent; verbs
 * return EIO, destroying frees our copies and touches nothing that is shared).
 */
#ifndef UHCAV_DEVICE_H
#define UHCAV_DEVICE_H

#include "context_file.h"
#include "emu/abi/region.h"
#include "provider/base/base.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct uhcav_pd;

enum uhcav_life {
	UHCAV_ALIVE = 0,
	UHCAV_FATAL = 1,
	UHCAV_FORKED = 2,
};

/* Has the daemon the arena of this process? */
enum uhcav_arena {
	UHCAV_ARENA_UNTRIED = 0,
	UHCAV_ARENA_ATTACHED = 1,
	UHCAV_ARENA_REFUSED = 2,
};

/* Part of an object that is to hear of the daemon's end. */
struct uhcav_listener {
	void (*daemon_gone)(struct uhcav_listener *l);
	LIST_ENTRY(uhcav_listener) link; /* of the context, under its listeners_lock */
};

struct uhcav_context {
	uint32_t life; /* enum uhcav_life; read with uhcav_life() */
	uint32_t gather_limit;
	enum uhca_abi_pin pin;  /* which registered memory becomes the device's */
	enum uhcav_arena arena; /* pin/pinning.c, under its lock */
	uint32_t refused;       /* calls that were told of (refuse.h) in this second: */
	uint32_t refused_in;
	const struct uhca_abi_status *status;
	struct uhca_abi_doorbell *doorbell;
	struct uhca_abi_active_doorbells *active_doorbells;
	void *marker; /* its marker page (marker.h), or NULL */
	int event_fd;
	bool single_threaded;
	struct uhcav_mr_table regions;
	struct uhcav_shared_list shared;
	uint64_t guid;     /* of the device, as soon as features is known */
	uint64_t features; /* UHCA_ABI_HAS_*, once UHCAV_FEATURES_KNOWN is set (device_query.c) */

	struct ibv_context *ibctx;
	const struct uhcav_stack *opened;  /* by whom, for provider/gone/; NULL: not known */
	struct uhca_abi_context_file file; /* what cmd_fd holds */
	struct uhcav_rpc rpc;
	struct uhcav_event_queue async; /* read_fd is ibctx->async_fd, which the library closes */

	pthread_mutex_t listeners_lock;
	LIST_HEAD(, uhcav_listener) listeners;

	pthread_mutex_t parents_lock;
	struct uhcav_pd *parents; /* parent domains */

	struct uhcav_context *child; /* child.h */
	struct uhcav_context *next;  /* list of monitor.c, under its lock */
};

#define UHCAV_FEATURES_KNOWN (1ull << 63)

/* Room before the library's context that holds the pointer to ours (driver.c). */
#define UHCAV_CONTEXT_HEADROOM 128

/*
 * Room at the start of each object for the library's part of it: larger than any release's
 * struct, zeroed, so that fields of newer libraries read as zero.
 */
#define UHCAV_OBJECT_ROOM 1024

/* Ours of the library's. */
static inline struct uhcav_context *uhcav_context_of(struct ibv_context *ibctx)
{
	size_t size = ((size_t *)(void *)ibctx)[-1]; /* verbs_context.sz, which stands before it */
	char *verbs_context = (char *)(ibctx + 1) - size;

	return *(struct uhcav_context **)(void *)(verbs_context - UHCAV_CONTEXT_HEADROOM);
}

static inline enum uhcav_life uhcav_life(const struct uhcav_context *ctx)
{
	return (enum uhcav_life)__atomic_load_n(&ctx->life, __ATOMIC_ACQUIRE);
}

/* A count that the device keeps for us in shared memory; 0 when there is no device any more. */
static inline uint32_t uhcav_device_count(const struct uhcav_context *ctx, const uint32_t *shared)
{
	return uhcav_life(ctx) == UHCAV_ALIVE ? __atomic_load_n(shared, __ATOMIC_ACQUIRE) : 0;
}

/*
 * A command. Returns 0 or -errno; -EIO on a dead context, and when the daemon turns out to be
 * gone the context has died before this returns.
 */
int uhcav_context_call(struct uhcav_context *ctx, struct uhcav_call *call);

/* A command that names one object and whose reply is the header alone. */
int uhcav_context_call_handle(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle);

/*
 * As the former, for destroy commands: on a dead context there is nothing to tell, so it returns
 * 0 and the caller frees what is ours.
 */
int uhcav_context_call_destroy(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle);

/* The verb of an object of which nothing else is ours: frees it then. 0 or an errno value. */
int uhcav_context_drop_object(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle,
			      void *object);

/* From now on, and from now on no more: when it returns the context is done with the listener. */
void uhcav_context_listen(struct uhcav_context *ctx, struct uhcav_listener *l);
void uhcav_context_unlisten(struct uhcav_context *ctx, struct uhcav_listener *l);

/* The daemon is gone: tells the application and who listens, once. Any thread. */
void uhcav_context_fatal(struct uhcav_context *ctx);

/* This process is a fork's child: closes our copy of the socket. Async-signal-safe. */
void uhcav_context_forked(struct uhcav_context *ctx);

/* New work for the device: rings doorbell n, wakes the daemon when it sleeps. Any thread. */
void uhcav_context_ring(struct uhcav_context *ctx, uint32_t n);

/* Maps a region that came with a reply and closes its descriptor. 0 or -errno. */
int uhcav_context_map(int fd, size_t size, bool writable, uint32_t kind, void **out);

/* The same for one without a region's header. */
int uhcav_context_map_file(int fd, size_t size, bool writable, void **out);

#endif
