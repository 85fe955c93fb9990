/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our end of one work queue: the send or receive queue of a QP, or an SRQ. We produce entries, the
 * device consumes them. The producer index that counts is ours; the shared one is where we
 * publish it.
 *
 * A request occupies its queue until the program polls its completion, or that of a later request
 * of the same send queue when it is unsignaled (IBTA vol. 1, 10.8.6). So a CQ as large as its
 * queues does not overrun.
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
	/*
	 * Atomic. Of a send queue: behind the last request whose completion was polled; of a
	 * receive queue or SRQ: the number of completions that were polled.
	 */
	uint32_t polled;
	/*
	 * The CQ ignores overruns: completions may be lost unseen, so a request leaves when the
	 * device has taken it.
	 */
	bool leaves_when_taken;
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
 * Maps the region of an SRQ or a WQ, whose page comes first, and takes over the queue in it. Closes
 * fd. 0 or -errno.
 */
int uhcav_work_queue_map(struct uhcav_work_queue *wq, const struct uhca_cmd_create_srq_reply *r,
			 int fd, struct uhca_abi_queue **page);

/*
 * Makes room for the notes of a queue that exists, with the allocator of its domain (NULL: none);
 * type is one of UHCAV_RESOURCE_*. 0 or -ENOMEM.
 */
int uhcav_work_queue_keep_notes(struct uhcav_work_queue *wq, struct ibv_pd *pd, uint64_t type);
void uhcav_work_queue_free_notes(struct uhcav_work_queue *wq, uint64_t type);

/*
 * Do max_wr requests occupy the queue? Under the lock. The acquire pairs with the release of who
 * polled: the device has read the slot that is used next.
 */
static inline bool uhcav_work_queue_full(const struct uhcav_work_queue *wq)
{
	uint32_t used = wq->producer - __atomic_load_n(&wq->polled, __ATOMIC_ACQUIRE);

	if (used < wq->max_wr)
		return false;
	if (wq->leaves_when_taken)
		return wq->producer - uhca_ring_observe(&wq->ring->consumer) >= wq->max_wr;
	return used - uhca_ring_observe(&wq->ring->abandoned) >= wq->max_wr;
}

/* So many requests occupy an SRQ. Under the lock. */
static inline uint32_t uhcav_work_queue_used(const struct uhcav_work_queue *wq)
{
	uint32_t used = wq->producer - __atomic_load_n(&wq->polled, __ATOMIC_ACQUIRE);

	return used - uhca_ring_observe(&wq->ring->abandoned);
}

/* Requests before an index, or so many receives, have left. Under the lock of the queue's CQ. */
static inline void uhcav_work_queue_polled(struct uhcav_work_queue *wq, uint32_t behind)
{
	__atomic_store_n(&wq->polled, behind, __ATOMIC_RELEASE);
}

/* A receive of an SRQ, whose QPs may have several CQs, or of a queue that is no QP's. */
static inline void uhcav_work_queue_polled_one(struct uhcav_work_queue *wq)
{
	__atomic_fetch_add(&wq->polled, 1, __ATOMIC_RELEASE);
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
