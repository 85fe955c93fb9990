/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completion queues and queue pairs of the process, with who armed and polled them. An object
 * enters the book when it was created, and leaves it before it is destroyed, so that the watching
 * thread may look at it under the book's lock.
 *
 * Lock order: the book's lock, then a CQ's, which is only tried.
 */
#ifndef UHCAV_HANG_BOOK_H
#define UHCAV_HANG_BOOK_H

#include "provider/diagnostic/diagnostic.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* The state of a CQ: waiting completions, and requests that may complete. */
struct uhcav_hang_state {
	uint32_t taken, empty, arms; /* completions polled, polls in vain, armings */
	uint32_t pending;            /* completions that nobody has polled */
	uint32_t solicited;          /* those of them that an arming for solicited ones counts */
	uint32_t sends, signaled;    /* outstanding; those of them that give a completion */
	uint32_t recvs;              /* posted receives, those of SRQs as well */
	uint32_t posts;              /* a sum that changes with each post */
	uint32_t qps, connected;     /* queue pairs that complete here */
	uint32_t arm;                /* UHCA_ABI_ARM_* */
	bool event;                  /* one waits in the channel */
	bool busy;                   /* somebody is in it at this moment */
};

#define UHCAV_HANG_POLLERS 4u

struct uhcav_hang_poller {
	pid_t tid; /* 0: nobody */
	const struct uhcav_stack *stack;
};

struct uhcav_hang_cq {
	LIST_ENTRY(uhcav_hang_cq) link;
	struct uhcav_cq *cq;
	const struct uhcav_stack *made;
	/* Written by threads of the program, atomic. */
	const struct uhcav_stack *armed;
	pid_t armed_by;
	uint32_t taken, empty, arms;
	uint32_t ask;  /* so many polls are to leave who polled, and its stack */
	uint32_t next; /* where, in "asked" */
	struct uhcav_hang_poller asked[UHCAV_HANG_POLLERS];
	uint32_t measured; /* of so many polls, and the shortest time from one to the next; ns */
	uint32_t gap;
	/* The watching thread's own. */
	struct uhcav_hang_state state;
	uint64_t since; /* but for polls in vain it is as it was; ms */
	bool overflow_reported;
	uint64_t event_since; /* an event has waited in the channel; ms, 0: none waits */
	bool polls;           /* in vain since the last tick */
	uint64_t polls_since; /* in vain, for the first time since "since"; ms, 0: not since then */
	struct uhcav_hang_poller pollers[UHCAV_HANG_POLLERS]; /* who did */
	uint32_t handle;
};

struct uhcav_hang_qp {
	LIST_ENTRY(uhcav_hang_qp) link;
	struct uhcav_qp *qp;
	const struct uhcav_stack *made, *reset; /* reset: moved to RESET with requests on it */
	uint32_t dropped;                       /* so many requests went with that */
	uint8_t dgid[16];
	bool has_peer;
};

LIST_HEAD(uhcav_hang_cqs, uhcav_hang_cq);
LIST_HEAD(uhcav_hang_qps, uhcav_hang_qp);
extern pthread_mutex_t uhcav_hang_book_lock;
extern struct uhcav_hang_cqs uhcav_hang_cqs; /* under the lock */
extern struct uhcav_hang_qps uhcav_hang_qps;

/* Objects of this process come and go. */
void uhcav_hang_cq_made(struct uhcav_cq *cq, const struct uhcav_stack *made);
void uhcav_hang_cq_gone(struct uhcav_cq *cq);
void uhcav_hang_qp_made(struct uhcav_qp *qp, const struct uhcav_stack *made);
void uhcav_hang_qp_gone(struct uhcav_qp *qp);

/* The queue pair was modified; "dropped" requests were outstanding on it before. */
void uhcav_hang_qp_modified(struct uhcav_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			    uint32_t dropped, struct uhcav_here here);

/* So many are posted and not polled, of the queue, or of the QP's own; any thread, a guess. */
uint32_t uhcav_hang_used(const struct uhcav_work_queue *wq);
uint32_t uhcav_hang_outstanding(const struct uhcav_qp *qp);

/* The thread as one of those that poll the CQ in vain, or NULL. */
const struct uhcav_hang_poller *uhcav_hang_poller(const struct uhcav_hang_cq *h, pid_t tid);

void uhcav_hang_leave_stack(struct uhcav_hang_cq *h, struct uhcav_here here);
void uhcav_hang_armed(struct uhcav_cq *cq, struct uhcav_here here);

/* The time between two polls is measured; written by the watching thread, atomic. */
extern uint32_t uhcav_hang_measures;
void uhcav_hang_measure_begin(struct uhcav_hang_cq *h);
void uhcav_hang_measure_end(void);

/* It is about to be polled. */
static inline void uhcav_hang_polls(const struct uhcav_cq *cq)
{
	if (__atomic_load_n(&uhcav_hang_measures, __ATOMIC_RELAXED) && cq->hang)
		uhcav_hang_measure_begin(cq->hang);
}

/* It was polled: so many completions were taken. */
static inline void uhcav_hang_polled(struct uhcav_cq *cq, int got, struct uhcav_here here)
{
	struct uhcav_hang_cq *h = cq->hang;
	uint32_t *count;

	if (!h)
		return;
	if (__atomic_load_n(&uhcav_hang_measures, __ATOMIC_RELAXED))
		uhcav_hang_measure_end();
	count = got > 0 ? &h->taken : &h->empty;
	__atomic_store_n(count,
			 __atomic_load_n(count, __ATOMIC_RELAXED) + (got > 0 ? (uint32_t)got : 1),
			 __ATOMIC_RELAXED);
	if (__atomic_load_n(&h->ask, __ATOMIC_RELAXED))
		uhcav_hang_leave_stack(h, here);
}

/* Each CQ's state is looked at anew. Under the lock. */
void uhcav_hang_look(uint64_t now);

/* The same of those where the queue pair completes, if they were polled in vain since. Were any? */
bool uhcav_hang_look_at_polled(const struct uhcav_qp *qp, uint64_t now);

/* Nothing has come to a CQ, or gone from it, since they were looked at. Under the lock. */
bool uhcav_hang_queues_stay(void);

/*
 * Somebody polled it in vain since the last look, and did so "after" ms ago, too. A thread that was
 * held up meanwhile (in a post, for one), and has polled once since, is not one that polls on.
 */
bool uhcav_hang_polls_on(const struct uhcav_hang_cq *h, uint64_t now, uint64_t after);

/* The one of this descriptor among the channels and event files of known devices, or NULL. */
struct uhcav_hang_cq *uhcav_hang_of_channel(int fd, const struct uhcav_hang_cq *after);

#endif
