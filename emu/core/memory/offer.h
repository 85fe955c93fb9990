/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload that the program copies to its place itself, when it takes the completion (abi/offer.h).
 * Nobody sees that it is not there yet: who names the memory cannot be known (regions over it,
 * windows, other processes that share it), so whatever the device reads or stores, all offers are
 * in memory before. One that is not taken is stored by the device after a millisecond, and before
 * the daemon sleeps.
 */
#ifndef CORE_OFFER_H
#define CORE_OFFER_H

#include "emu/abi/offer.h"
#include "emu/core/base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* What a completion queue has offered; the device's own copy of what matters. */
struct offer_ring {
	struct list link; /* device.offers, while something is offered */
	struct client *client;
	struct uhca_abi_offer *slots; /* shared; NULL: nothing is offered */
	uint32_t head, n;             /* oldest, and how many */
	uint32_t settled; /* so many of them, from the oldest, need nothing of the device */
	uint64_t since;   /* when the oldest of the others came */
	struct offer_record {
		uint64_t addr;
		uint32_t length;
		uint32_t back; /* the state that follows DEVICE */
	} record[UHCA_ABI_OFFERS];
};

void offer_ring_construct(struct offer_ring *r, struct client *c, void *slots);

/*
 * Offers the bytes (at most UHCA_ABI_OFFER_BYTES) for the client's memory at addr. False: there is
 * no room, the caller stores them. *slot goes into the completion.
 */
bool offer_put(struct offer_ring *r, uint64_t addr, const struct iovec *iov, unsigned n,
	       uint32_t *slot);

/* The queue goes: what was offered is in memory when it returns, as far as memory answers. */
void offer_ring_end(struct offer_ring *r);

/* All that was offered is in memory when it returns, as far as memory answers. */
void offers_settle(struct device *dev);

/* Before whatever the device reads or stores. */
static inline void offers_yield(struct device *dev)
{
	if (!list_empty(&dev->offers))
		offers_settle(dev);
}

/*
 * The client still copies to these n spans what is there already: what is stored there now could
 * be lost by that. For after offers_settle.
 */
bool offers_collide(const struct client *c, const struct core_span *span, unsigned n);

/* The time by which it is to be called at the latest, UINT64_MAX: never; and that time is there. */
uint64_t offers_due(const struct device *dev);
void offers_tick(struct device *dev);

#endif
