/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device asks of its surroundings: memory, rings, events, random bytes. */
#ifndef CORE_OPS_H
#define CORE_OPS_H

#include "emu/abi/cqe.h"
#include "emu/abi/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct core_trace;

/* A piece of memory. */
struct core_span {
	uint64_t addr;
	uint32_t length;
	uint32_t space; /* enum core_space */
};

/* Pieces of memory of CORE_SPACE_DEVICE, each a stride behind the one before. */
struct core_row {
	uint64_t addr; /* of the first */
	int64_t stride;
	uint32_t length; /* of each, not 0 */
	uint32_t count;  /* not 0 */
};

enum core_space {
	CORE_SPACE_CLIENT = 0, /* addr is a virtual address of the client */
	CORE_SPACE_DEVICE = 1, /* addr is a pointer of our own process */
};

/* Memory shared with a client, made by ops->ring_alloc: zeroed, at least size bytes. */
struct core_ring {
	void *base;
	size_t size;
	void *token; /* the shell's; the core only keeps it */
};

/*
 * Injected operations. "user" is the pointer given to core_create, "client" the cookie given to
 * core_client_create. All are called synchronously and must not call back into the core.
 */
struct core_ops {
	/*
	 * Copies the memory named by the spans, in order, to "to" (the sum of their lengths).
	 * Returns 0, -EFAULT (some of it is not there; what "to" holds is unspecified), or -ESRCH:
	 * the client is gone, and core_client_destroy will follow, or its memory does not answer
	 * now. The device then keeps silent, as hardware does whose process died: what it did not
	 * do counts as lost on the way, and who waits for it asks again, or runs into its timeout.
	 */
	int (*mem_read)(void *client, const struct core_span *from, unsigned n, void *to);
	/*
	 * Scatters the iovecs over the spans; both lists have the same total length. Stores of up
	 * to 8 bytes are seen whole, and the last bytes become visible last (design D5).
	 */
	int (*mem_write)(void *client, const struct core_span *to, unsigned n,
			 const struct iovec *from, unsigned n_from);
	/* Optional, both or none: mem_read and mem_write of a row. */
	int (*mem_read_row)(void *client, const struct core_row *from, void *to);
	int (*mem_write_row)(void *client, const struct core_row *to, const struct iovec *from);
	/* Optional: would the program find memory there, as far as is known at no great cost? */
	bool (*mem_there)(void *client, const struct core_span *at);
	/*
	 * Optional: where who delivers a burst to dst (a GID) may take the bytes of a span of
	 * CORE_SPACE_DEVICE, which the program may change. NULL: they are to be copied.
	 */
	const void *(*mem_map)(void *client, const struct core_span *at, const uint8_t dst[16]);
	/*
	 * Optional: does a burst to dst (a GID) stay in the shell, so that no network must have
	 * room for it? NULL: none does.
	 */
	bool (*stays)(void *user, const uint8_t dst[16]);
	/* Shared, zeroed memory for a queue. 0 or -ENOMEM. */
	int (*ring_alloc)(void *client, size_t size, struct core_ring *out);
	/* By its maker, or by the client that inherited it (core_client_join). */
	void (*ring_free)(void *client, struct core_ring *ring);
	/* An armed CQ has a completion: one record. False: one waits already, or nobody reads. */
	bool (*comp_event)(void *client, uint32_t channel, uint64_t cookie);
	bool (*async_event)(void *client, const struct uhca_abi_async_event *event);
	/* The destroy of an object takes back records not delivered to the socket yet: how many. */
	uint32_t (*comp_purge)(void *client, uint32_t channel, uint64_t cookie);
	uint32_t (*async_purge)(void *client, uint64_t cookie);
	/* Unpredictable bytes (seeded in the simulator): keys, QP numbers. */
	void (*random)(void *user, void *buf, size_t len);
	/*
	 * Optional: the first QP of the device was attached to a multicast group, or the last one
	 * detached; gid is as packets to it carry it. 0 or -errno, which the attach returns; the
	 * end of a membership does not fail.
	 */
	int (*mcast)(void *user, const uint8_t gid[16], bool join);
	/* Optional (NULL: off), see trace.h. */
	void (*trace)(void *user, const struct core_trace *t);
	/*
	 * Optional: looks at a completion before it enters the CQ with this handle; may change it.
	 * False: it does not enter; core_inject_completion can bring it later.
	 */
	bool (*completion)(void *user, uint32_t cqn, struct uhca_abi_cqe *e);
};

#endif
