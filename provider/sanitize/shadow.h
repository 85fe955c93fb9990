/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shadow of a work queue: the requests that are outstanding as its program must see it, from
 * the post until a completion was polled that says so (its own, or a later one's of the same queue:
 * IBTA vol. 1, 10.8.3.3). That is longer than the device needs them.
 *
 * A request is entered before it is posted, so that whoever polls its completion finds it, and
 * taken back when it was not posted. Indices are those of the queue's ring.
 *
 * Lock order: a CQ's lock, a shadow's. "posting" is held from the entering of a request to the end
 * of its post, so that both are in the same order; it comes before all of them.
 */
#ifndef UHCAV_SHADOW_H
#define UHCAV_SHADOW_H

#include "object.h"
#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/misuse/misuse.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define UHCAV_PARTS  8u
#define UHCAV_PLACES 3u

/* A stretch of memory that a request names. */
struct uhcav_piece {
	uint64_t at; /* in the process; 0: not memory of its own, or not known */
	uint64_t length;
	uint32_t lkey;
	uint32_t summed; /* at the post: 0, as a whole (1), or in so many parts */
	uint64_t sums[UHCAV_PARTS];
	uint32_t page_watch; /* kept from the program since the post, by this name; 0: not kept */
};

enum uhcav_direction {
	UHCAV_LOCAL_NONE, /* inline, or no payload */
	UHCAV_LOCAL_READ, /* the device reads the pieces: SEND, WRITE */
	UHCAV_LOCAL_WRITE /* it writes them: READ, atomics, receives */
};

struct uhcav_request {
	uint64_t wr_id;
	uint32_t index;
	uint8_t opcode; /* enum ibv_wr_opcode; receives: none */
	bool signaled, fenced, done;
	bool counted; /* in the CQ's "expected" */
	bool inlined;
	enum uhcav_direction direction;
	uint64_t remote_addr, remote_length;
	uint32_t rkey;
	uint64_t since; /* what was freed before it was posted (memory_watch/frees.h) */
	uint32_t ah;    /* handle of the address handle; 0: it names none */
	uint32_t to_qp; /* a datagram's, */
	const void *to; /* and its address handle */
	const struct uhcav_stack *posted;
	uint32_t n_pieces;
	struct uhcav_piece *pieces; /* the request's own, freed with it */
};

struct uhcav_cq;

/* A request that a full queue refused, and that was not posted again; stack is NULL: there is none.
 */
struct uhcav_refusal {
	const struct uhcav_stack *stack, *oldest; /* of the post, of the oldest request */
	uint64_t wr_id, remote_addr, at;          /* by these it is known again */
	uint32_t outstanding, signaled;
};

struct uhcav_shadow {
	LIST_ENTRY(uhcav_shadow) link; /* of all */
	pthread_mutex_t posting;
	struct uhcav_lock lock;
	uint32_t first, n, room; /* room is a power of two */
	struct uhcav_request *requests;
	uint32_t max_wr; /* as it was granted */
	bool is_send;    /* or a receive queue */
	bool unmatched;  /* its QP can send and was not held against its peer; atomic */
	bool all_signaled;
	bool no_reads;       /* max_rd_atomic of its QP is 0; atomic */
	bool datagrams;      /* UD; of an SRQ: a UD QP has it */
	uint32_t max_inline; /* as it was asked for */
	const void *owner;   /* QP or SRQ */
	const struct ibv_context *context;
	uint32_t pd;         /* handle */
	uint32_t number;     /* of the owner */
	const char *type;    /* "RC QP" */
	struct uhcav_cq *cq; /* where it completes; NULL: in several */
	/* Before this index the device is done with the requests, atomic; NULL: not known. */
	const uint32_t *retired;
	const uint32_t *state; /* of its QP, enum ibv_qp_state, as the provider knows it; or NULL */

	/* Of a receive queue: which calls post to it, as far as the peers were told; "posting". */
	const struct uhcav_stack *places[UHCAV_PLACES];

	uint64_t wr_id;  /* of the first request, and does another have another one? */
	bool has_wr_ids; /* of more than one value */

	uint32_t reads; /* READs and atomics among the requests */
	uint32_t fence; /* the last request with a fence, if "fenced" */
	bool fenced;

	/*
	 * A completion with an error was polled (atomic), and so many requests were posted since.
	 */
	const struct uhcav_stack *failed;
	enum ibv_wc_status failed_status;
	uint32_t posted_since;

	bool unread;                  /* its failure was told, though it was not polled; atomic */
	struct uhcav_refusal refused; /* under "posting" */
	struct uhcav_undrained undrained;
};

struct uhcav_shadow *uhcav_shadow_create(const struct uhcav_shadow *as);
void uhcav_shadow_destroy(struct uhcav_shadow *s);

/* Enters a request, and owns its pieces. False without memory: then it is not watched. */
bool uhcav_shadow_enter(struct uhcav_shadow *s, const struct uhcav_request *r);

/* Takes back the last n, which were not posted. */
void uhcav_shadow_take_back(struct uhcav_shadow *s, uint32_t n);

/* The device's part of the queue is about to go: it is not looked at any more. */
void uhcav_shadow_unplug(struct uhcav_shadow *s);

/* All are gone: the queue was reset. NULL is none, here and for destroy. */
void uhcav_shadow_clear(struct uhcav_shadow *s);

/*
 * Requests before index are complete: takes out up to max of them, which are the caller's then
 * (their pieces: uhcav_request_free). Returns how many.
 */
uint32_t uhcav_shadow_complete(struct uhcav_shadow *s, uint32_t index, struct uhcav_request *out,
			       uint32_t max);

/* For receives: the oldest with this wr_id; SRQs complete in any order. 1; 0: there is none. */
uint32_t uhcav_shadow_complete_one(struct uhcav_shadow *s, uint64_t wr_id,
				   struct uhcav_request *out);

/* Is one with this wr_id outstanding, of a send queue before index? NULL: none is. */
bool uhcav_shadow_has(struct uhcav_shadow *s, uint64_t wr_id, uint32_t index);

/* For each shadow, which stays while it is looked at. */
void uhcav_shadow_each(void (*what)(struct uhcav_shadow *s, void *arg), void *arg);

/* Held across a fork. */
extern pthread_mutex_t uhcav_shadows_lock;

/* Its QP is in the error state or was never connected, as far as the program can know. */
static inline bool uhcav_shadow_is_idle(const struct uhcav_shadow *s)
{
	uint32_t state = s->state ? __atomic_load_n(s->state, __ATOMIC_ACQUIRE) : IBV_QPS_RTS;

	return state == IBV_QPS_ERR || state == IBV_QPS_RESET ||
	       __atomic_load_n(&s->failed, __ATOMIC_ACQUIRE);
}

void uhcav_request_free(struct uhcav_request *r);

/*
 * Its memory is the program's again, as far as pages were protected. A piece that the program was
 * found to use has no sums any more: that has been told.
 */
void uhcav_request_open(struct uhcav_request *r);

/* The same of all requests: the queue is in error, and the device leaves their memory alone. */
void uhcav_shadow_open(struct uhcav_shadow *s);

/* The i-th of n, oldest first. Under the lock. */
static inline struct uhcav_request *uhcav_shadow_at(const struct uhcav_shadow *s, uint32_t i)
{
	return &s->requests[(s->first + i) & (s->room - 1)];
}

#endif
