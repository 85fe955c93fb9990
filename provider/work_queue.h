/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our end of one work queue: the send or receive queue of a QP, or an SRQ. We produce entries, the
 * device consumes them. The producer index that counts is ours; the shared one is where we
 * publish it.
 */
#ifndef UHCAV_WORK_QUEUE_H
#define UHCAV_WORK_QUEUE_H

#include "cmd.h"
#include "lock.h"
#include "region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_work_queue {
	struct uhcav_lock lock;
	uint32_t producer;
	uint32_t consumer; /* the device's, as we last saw it */
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t mask;
	uint32_t stride;
	uint8_t *entries; /* NULL: the queue does not exist */
	struct uhca_abi_ring *ring;
	/*
	 * Receive queues: the wr_id of the last 2 * entries requests. The device takes a request
	 * out of the ring long before it completes it, and its slot may be reused by then.
	 */
	uint64_t *wr_id;
};

/*
 * Takes over the queue that a create reply describes; base is the region of size bytes, stride
 * the least an entry needs. 0 (also for a queue without entries), or -EPROTO for a layout that
 * does not fit.
 */
int uhcav_work_queue_init(struct uhcav_work_queue *wq, void *base, size_t size,
			  const struct uhca_abi_queue_layout *layout, uint32_t min_stride);

/* Is there room for one more? Under the lock. */
static inline bool uhcav_work_queue_full(struct uhcav_work_queue *wq)
{
	if (wq->producer - wq->consumer < wq->max_wr)
		return false;
	wq->consumer = uhca_ring_observe(&wq->ring->consumer);
	return wq->producer - wq->consumer >= wq->max_wr;
}

static inline uint8_t *uhcav_work_queue_slot(const struct uhcav_work_queue *wq, uint32_t index)
{
	return wq->entries + (size_t)(index & wq->mask) * wq->stride;
}

#endif
