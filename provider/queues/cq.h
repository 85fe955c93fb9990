/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues: creation, destruction, events. Polling and arming are in poll/.
 *
 * Lock order: ctx->listeners_lock, cq->lock, a work queue's lock.
 */
#ifndef UHCAV_CQ_H
#define UHCAV_CQ_H

#include "emu/abi/copy_on_poll.h"
#include "emu/abi/cqe.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct uhcav_hang_cq;
struct uhcav_qp;
struct uhcav_stack;
struct uhcav_work_queue;

/* A send queue whose requests complete to a CQ, as poll/wait_cq.c saw it. */
struct uhcav_wait {
	uint32_t at; /* where the QP stands among those of the CQ, or where to look on */
	uint32_t qpn;
	uint32_t first, end; /* requests that were outstanding */
	uint64_t since;      /* at this time, ns of CLOCK_MONOTONIC */
};

/* Receives of much each that were polled, and nothing else between them. */
struct uhcav_stream {
	uint32_t run;  /* so many */
	uint32_t qpn;  /* the last was its */
	uint32_t sent; /* what that QP had been asked to send before */
};

struct uhcav_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cqx; /* begins like the former; cq_ex.c */
		uint8_t room[UHCAV_OBJECT_ROOM];
	};
	/* What polling uses, under lock. */
	struct uhcav_lock lock;
	uint32_t consumer; /* next entry to take */
	uint32_t mask;
	uint32_t stride;
	bool resizing;       /* cq_resize.c: the ring is about to be another */
	uint32_t waiters;    /* for the end of a resize: their turn before the next one's */
	bool ignore_overrun; /* the device overwrites what we do not take */
	uint32_t payloads;   /* completions with payload that were taken, and how many of them */
	uint32_t handled;    /* the program is done with: what the device is told (region.h) */
	bool flushing;       /* the daemon is gone, the ring is empty: report what is outstanding */
	uint8_t *entries;
	struct uhca_abi_copy_on_poll *copies_on_poll; /* slots; NULL: none */
	const struct uhca_abi_cqe *current; /* of an extended poll: what read_*() look at */
	struct uhca_abi_cqe copy;           /* for entries that do not stay in the ring */
	uint64_t wall_offset;               /* wall clock minus the clock of time stamps */
	struct uhca_abi_cq *page;
	struct uhcav_context *ctx;
	struct uhcav_number_map qps;
	struct uhcav_number_map queues; /* struct uhcav_work_queue: WQs, XRC SRQs; by uhcav_*_key */
	struct uhcav_wait wait;
	struct uhcav_stream stream;

	size_t region_size;
	struct uhcav_channel *channel; /* NULL: none */
	uint32_t comp_events_read;     /* by ibv_get_cq_event; atomic */
	uint32_t async_events_read;    /* by ibv_get_async_event; atomic */
	struct uhcav_listener listener;
	/*
	 * For sanitize/, atomic: completions that outstanding requests can bring; who armed it
	 * while some waited, the last of them before this index, and has not polled them all since.
	 */
	uint32_t expected;
	uint32_t armed_end;
	bool armed_polled; /* some of them were polled */
	const struct uhcav_stack *armed_late;
	pthread_t armed_by; /* who that was; under the lock */
	struct uhcav_inside inside;
	struct uhcav_hang_cq *hang; /* hang/; NULL: nobody watches */
	struct uhcav_pd *parent;    /* the parent domain it is in, or NULL */
};

static inline struct uhcav_cq *uhcav_cq_of(struct ibv_cq *cq)
{
	return (struct uhcav_cq *)(void *)cq;
}

static inline struct uhca_abi_cqe *uhcav_cq_slot(const struct uhcav_cq *cq, uint32_t index)
{
	return (struct uhca_abi_cqe *)(void *)(cq->entries +
					       (size_t)(index & cq->mask) * cq->stride);
}

/* Has the device completed the entry that index stands for? */
static inline int uhcav_cqe_valid(const struct uhca_abi_cqe *e, uint32_t index)
{
	return __atomic_load_n(&e->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/*
 * Locks a CQ whose ring one is going to touch: waits for a resize to end. (Attaching QPs and
 * raising the last event do not touch it, and may happen during a resize.)
 */
static inline void uhcav_cq_lock(struct uhcav_cq *cq)
{
	uhcav_lock(&cq->lock);
	if (!cq->resizing)
		return;
	cq->waiters++;
	while (cq->resizing) {
		uhcav_unlock(&cq->lock);
		uhcav_yield_backoff();
		uhcav_lock(&cq->lock);
	}
	cq->waiters--;
}

/* Under the lock: the device hears how many the program is done with. */
static inline void uhcav_cq_handled(struct uhcav_cq *cq, uint32_t n)
{
	if (cq->handled == n)
		return;
	cq->handled = n;
	__atomic_store_n(&cq->page->ring.handled, n, __ATOMIC_RELAXED);
}

/* n more with payload were taken. */
static inline void uhcav_cq_took(struct uhcav_cq *cq, uint32_t n)
{
	cq->payloads += n;
	if (cq->payloads - cq->handled > UHCA_ABI_UNHANDLED_MAX)
		uhcav_cq_handled(cq, cq->payloads - UHCA_ABI_UNHANDLED_MAX);
}

/*
 * Nothing was found: a program that comes back for more is done with one of those it has. True
 * when it had any: it has work, and needs the processor.
 */
static inline bool uhcav_cq_found_none(struct uhcav_cq *cq)
{
	if (cq->handled == cq->payloads)
		return false;
	uhcav_cq_handled(cq, cq->handled + 1);
	return true;
}

/* How a CQ is to be, beyond ibv_create_cq's arguments. */
struct uhcav_cq_init {
	int cqe;
	int comp_vector;
	struct ibv_comp_channel *channel;
	uint32_t flags; /* UHCA_ABI_CQ_* */
	bool single_threaded;
	struct ibv_pd *pd; /* a parent domain, or NULL */
};

/* Both ways of creation. 0 or -errno. */
int uhcav_cq_create(struct ibv_context *ibctx, const struct uhcav_cq_init *init,
		    struct uhcav_cq **out);

/* Maps the ring that a reply describes in place of the one there is; closes fd. 0 or -errno. */
int uhcav_cq_map(struct uhcav_cq *cq, const struct uhca_cmd_create_cq_reply *r, int fd);

/* ibv_create_cq(3): NULL with errno. */
struct ibv_cq *uhcav_create_cq(struct ibv_context *ibctx, int cqe, struct ibv_comp_channel *channel,
			       int comp_vector);

/*
 * ibv_destroy_cq(3): 0 or an errno value. Waits until every event that was read is acknowledged.
 */
int uhcav_destroy_cq(struct ibv_cq *ibcq);

/* ibv_resize_cq(3), ibv_modify_cq(3): 0 or an errno value. */
int uhcav_resize_cq(struct ibv_cq *ibcq, int cqe);
int uhcav_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);

/* Called by libibverbs for each completion event that it has read. */
void uhcav_cq_event(struct ibv_cq *ibcq);

/* The daemon is gone: one completion event if the CQ is armed. */
void uhcav_cq_fire(struct uhcav_cq *cq);

/* A QP that completes here comes (0 or -ENOMEM) and goes. */
int uhcav_cq_attach(struct uhcav_cq *cq, uint32_t qpn, struct uhcav_qp *qp);
void uhcav_cq_detach(struct uhcav_cq *cq, uint32_t qpn);

/*
 * The same of a work queue that is no QP's, by a key that no other queue of the device has: the
 * number of a WQ, or uhcav_xrc_key of an XRC SRQ's.
 */
int uhcav_cq_attach_queue(struct uhcav_cq *cq, uint32_t key, struct uhcav_work_queue *wq);
void uhcav_cq_detach_queue(struct uhcav_cq *cq, uint32_t key);

/* WQ and QP numbers have 25 bits at most. */
static inline uint32_t uhcav_xrc_key(uint32_t srqn)
{
	return srqn | 1u << 31;
}

/*
 * Completions of a QP that was destroyed or reset are not polled any more; their receive requests
 * leave srq, if it is not NULL.
 */
void uhcav_cq_skip(struct uhcav_cq *cq, uint32_t qpn, struct uhcav_work_queue *srq);

#endif
