/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues (IBTA vol. 1, chapters 10 and 11): the device's end of a completion ring, its
 * overflow, and arming. A CQ that overflowed takes nothing any more and has raised CQ_ERR; QPs
 * that complete to it go to the error state.
 */
#ifndef CORE_CQ_H
#define CORE_CQ_H

#include "comp_cntr.h"
#include "deferred_completion.h"
#include "emu/abi/cqe.h"
#include "emu/abi/region.h"
#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"

struct cq {
	struct object obj; /* refs: QPs (twice when both queues use it) and SRQs */
	uint64_t cookie;
	uint32_t channel;
	uint32_t cqe;     /* what the consumer was told */
	uint32_t entries; /* slots, a power of two, > cqe never happens: entries >= cqe */
	uint32_t producer;
	uint32_t consumer; /* our last look at the client's */
	bool overrun;
	uint32_t event_index;               /* entries below it had an event (region.h) */
	uint32_t comp_events, async_events; /* that the client was told (region.h) */
	bool ignore_overrun;                /* entries are overwritten */
	/* Moderation (cq_moderation.c): completions per event, 0: any number; microseconds. */
	uint16_t moderate_count, moderate_period;
	uint32_t withheld; /* completions that asked for an event since the last one */
	struct timer event_timer;
	struct deferred_completion deferred;
	struct copy_on_poll_ring copies_on_poll;
	struct core_ring ring;
	struct uhca_abi_cq *page;
	struct uhca_abi_cqe *slots;
};

/* Bytes of a CQ's region with so many entries, and the slots of abi/copy_on_poll.h. */
uint64_t cq_region_size(const struct cq *cq, uint32_t entries);

/* The region of a CQ with so many entries is this one from now on. */
void cq_use_region(struct cq *cq, const struct core_ring *ring, uint32_t entries);

/*
 * Leaves the bytes of a receive to the client, which copies them to addr; *e is told. False: the
 * caller is to store them.
 */
bool cq_copy_on_poll(struct cq *cq, uint64_t addr, const struct iovec *iov, unsigned n,
		     struct uhca_abi_cqe *e);

/* The consumer asked for this completion: an event, now or moderated. */
void cq_notify(struct cq *cq);

/* Tells the consumer about the ring as it is now. */
void cq_describe(const struct cq *cq, struct uhca_cmd_create_cq_reply *out, struct core_ring *ring);

/*
 * Publishes a completion (everything but sequence and timestamp from *e), wakes an armed
 * consumer: a solicited-only arm fires for e->flags SOLICITED and for each error status.
 * Returns false when the CQ has no room: CQ_ERR has been raised once, the completion is lost. With
 * ignore_overrun the oldest entry is lost instead, and nobody is told.
 */
bool cq_push(struct cq *cq, const struct uhca_abi_cqe *e);

/* The same; before it enters, this counter (NULL: none) moves by what it says. */
bool cq_push_counted(struct cq *cq, const struct uhca_abi_cqe *e, struct comp_cntr *cntr);

/* The same for a completion that core_ops.completion has seen. */
bool cq_put(struct cq *cq, const struct uhca_abi_cqe *e);

/* The same for one that has room and waits for nobody. */
void cq_enter(struct cq *cq, const struct uhca_abi_cqe *e);

/* Has the program taken what was before this producer index, or will it be told (it is armed)? */
bool cq_is_read(const struct cq *cq, uint32_t producer);

/* It takes nothing from now on, whatever room it has: CQ_ERR, once. */
void cq_overrun(struct cq *cq);

/* Raises an affiliated async event (UHCA_ABI_EVENT_*) of this CQ. */
void cq_event(struct cq *cq, uint32_t type);

/* The client destroys this CQ: events that it was not told of yet are taken back. */
void cq_take_back_events(void *object);

extern const struct object_type object_cq;

#endif
