/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload that the program copies to its place itself, when it takes the completion
 * (abi/copy_on_poll.h). Nobody sees that it is not there yet: who names the memory cannot be known
 * (regions over it, windows, other processes that share it), so all copies are in memory before the
 * device reads or stores anything (barrier.h). One that is not taken is stored by the device after
 * a millisecond, and before the daemon sleeps.
 */
#ifndef CORE_COPY_ON_POLL_H
#define CORE_COPY_ON_POLL_H

#include "emu/abi/copy_on_poll.h"
#include "emu/core/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define COPY_ON_POLL_RINGS 32u /* of one client in which copies wait: its accesses look at them */

/* Copies of a completion queue that wait; the device's own record of what matters. */
struct copy_on_poll_ring {
	struct list link;      /* device.copies_on_poll or _later, while some are not settled */
	struct list of_client; /* client.copies_on_poll, while there are any */
	struct client *client;
	struct uhca_abi_copy_on_poll *slots; /* shared; NULL: none */
	uint32_t head, n;                    /* oldest, and how many */
	uint32_t settled; /* so many of them, from the oldest, need nothing of the device */
	uint64_t since;   /* when the oldest of the others came */
	struct copy_on_poll_record {
		uint64_t addr;
		uint32_t length;
	} record[UHCA_ABI_COPY_ON_POLL_SLOTS];
};

void copy_on_poll_ring_construct(struct copy_on_poll_ring *r, struct client *c, void *slots);

/*
 * Leaves the bytes (at most UHCA_ABI_COPY_ON_POLL_BYTES) to the client for addr. False:
 * there is no room, the caller stores them. *slot goes into the completion.
 */
bool copy_on_poll_put(struct copy_on_poll_ring *r, uint64_t addr, const struct iovec *iov,
		      unsigned n, uint32_t *slot);

/* The queue goes: what waits is in memory when it returns, as far as memory answers. */
void copy_on_poll_ring_end(struct copy_on_poll_ring *r);

/*
 * All copies are in memory when it returns, as far as memory answers; make_visible
 * (barrier.h) calls it.
 */
void copies_on_poll_settle(struct device *dev);

/*
 * The client still copies to these n spans what is there already: what is stored there now could
 * be lost by that. For after copies_on_poll_settle.
 */
bool copies_on_poll_collide(const struct client *c, const struct core_span *span, unsigned n);

/* The time by which it is to be called at the latest, UINT64_MAX: never; and that time is there. */
uint64_t copies_on_poll_due(const struct device *dev);
void copies_on_poll_tick(struct device *dev);

#endif
