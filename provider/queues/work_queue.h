/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our end of one work queue: the send or receive queue of a QP, or an SRQ. We produce entries, the
 * device consumes them. The producer index that counts is ours; the shared one is where we
 * publish it.
 */
#ifndef UHCAV_WORK_QUEUE_H
#define UHCAV_WORK_QUEUE_H

#include "emu/abi/cmd.h"
#include "emu/abi/region.h"
#include "provider/base/base.h"
#include "provider/keys/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_posted {
	uint64_t wr_id;
	uint8_t opcode;   /* of a send */
	uint8_t signaled; /* of a send: completes also when nothing goes wrong */
};

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
	 * Our own notes of the last 2 * entries requests, for flush_qp.c: the device takes a
	 * request out of the ring before it completes it, and its slot may be reused by then. NULL:
	 * none.
	 */
	struct uhcav_posted *posted;
	struct uhcav_buffer notes; /* where they stand */
};

/*
 * Takes over the queue that a create reply describes; base is the region of size bytes, stride
 * the least an entry needs. 0 (also for a queue without entries), or -EPROTO for a layout that
 * does not fit.
 */
int uhcav_work_queue_init(struct uhcav_work_queue *wq, void *base, size_t size,
			  const struct uhca_abi_queue_layout *layout, uint32_t min_stride);

/*
 * Makes room for the notes of a queue that exists, with the allocator of its domain (NULL: none);
 * type is one of UHCAV_RESOURCE_*. 0 or -ENOMEM.
 */
int uhcav_work_queue_keep_notes(struct uhcav_work_queue *wq, struct ibv_pd *pd, uint64_t type);
void uhcav_work_queue_free_notes(struct uhcav_work_queue *wq, uint64_t type);

/* Is there room for one more? Under the lock. */
static inline bool uhcav_work_queue_full(struct uhcav_work_queue *wq)
{
	if (wq->producer - wq->consumer < wq->max_wr)
		return false;
	wq->consumer = uhca_ring_observe(&wq->ring->consumer);
	return wq->producer - wq->consumer >= wq->max_wr;
}

/* The note of the request at an index. */
static inline struct uhcav_posted *uhcav_work_queue_posted(const struct uhcav_work_queue *wq,
							   uint32_t index)
{
	return &wq->posted[index & (wq->mask * 2 + 1)];
}

static inline uint8_t *uhcav_work_queue_slot(const struct uhcav_work_queue *wq, uint32_t index)
{
	return wq->entries + (size_t)(index & wq->mask) * wq->stride;
}

#endif
