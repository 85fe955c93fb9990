/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The barrier between what the device has done and what others see of it. Three things wait:
 *
 *   delayed writes         stores that the configuration makes late (delayed_write.h)
 *   copies on poll         payload that the program copies when it polls (copy_on_poll.h)
 *   deferred completions   those that wait until their reader has handled the ones before
 *                          (deferred_completion.h)
 *
 * Before something happens by which a program or the device could tell that they wait, the device
 * calls make_visible and says what that is. The table below says which of them come first.
 */
#ifndef CORE_BARRIER_H
#define CORE_BARRIER_H

#include "emu/core/base/base.h"

#include <stdint.h>

struct cq;

enum visible_before {
	BEFORE_ACCESS,          /* the device reads, maps or stores memory, or executes a FLUSH */
	BEFORE_SEND_COMPLETION, /* the completion of a request enters its CQ, */
	BEFORE_RECV_COMPLETION, /* or that of a receive */
	BEFORE_COUNT,           /* a completion counter moves */
	BEFORE_KEY_CHANGE,      /* a window or an indirect key loses its memory */
	BEFORE_REGION_END,      /* a region ends, or gets other memory */
	BEFORE_QP_STOP,         /* a QP goes to RESET or the error state, or ends */
	BEFORE_CLIENT_END,
	BEFORE_CQ_OVERRUN,
	BEFORE_CQ_RESIZE,
	BEFORE_SLEEP, /* the daemon sleeps: delayed writes come when their time is over */
};

enum {
	VISIBLE_DELAYED_REQUESTS = 1 << 0, /* delayed writes that a send completion covers */
	VISIBLE_DELAYED = 1 << 1,          /* all of them */
	VISIBLE_COPIES = 1 << 2,           /* of this device and those that share memory with it */
	VISIBLE_DEFERRED = 1 << 3,         /* of one CQ */
};

static const uint8_t visible_first[] = {
	[BEFORE_ACCESS] = VISIBLE_DELAYED | VISIBLE_COPIES,
	[BEFORE_SEND_COMPLETION] = VISIBLE_DELAYED_REQUESTS,
	[BEFORE_RECV_COMPLETION] = VISIBLE_DELAYED,
	[BEFORE_COUNT] = VISIBLE_DELAYED,
	[BEFORE_KEY_CHANGE] = VISIBLE_DELAYED,
	[BEFORE_REGION_END] = VISIBLE_DELAYED | VISIBLE_COPIES,
	[BEFORE_QP_STOP] = VISIBLE_DELAYED | VISIBLE_DEFERRED,
	[BEFORE_CLIENT_END] = VISIBLE_DELAYED,
	[BEFORE_CQ_OVERRUN] = VISIBLE_DEFERRED,
	[BEFORE_CQ_RESIZE] = VISIBLE_COPIES | VISIBLE_DEFERRED,
	[BEFORE_SLEEP] = VISIBLE_COPIES,
};

/* The same as make_visible, where something waits; only make_visible calls it. */
void barrier_pass(struct device *dev, uint32_t first, struct cq *cq);

static inline bool barrier_has_copies(const struct device *dev)
{
	return !list_empty(&dev->copies_on_poll) || !list_empty(&dev->copies_on_poll_later) ||
	       !list_empty(&dev->shares_memory);
}

/*
 * What "before" asks for is visible when it returns: in memory, as far as that answers, or in its
 * CQ. cq: the one whose deferred completions are meant; NULL where the row has none of them, or
 * there is no CQ.
 */
static inline void make_visible(struct device *dev, enum visible_before before, struct cq *cq)
{
	const uint32_t first = visible_first[before];

	if (dev->late || ((first & VISIBLE_COPIES) && barrier_has_copies(dev)) || cq)
		barrier_pass(dev, first, cq);
}

/* When delayed writes and copies on poll become visible by themselves; UINT64_MAX: none wait. */
uint64_t barrier_due(const struct device *dev);

/* The same for those whose time is over. */
void barrier_tick(struct device *dev);

#endif
