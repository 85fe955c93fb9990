/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a program does not go on. Two kinds of judgement:
 *
 *   of one thread   It waits for events of a channel, and what it armed (or did not arm) cannot
 *                   raise one while completions wait. That needs no more than the queues' state.
 *   of the process  Each thread waits for another thread, for descriptors of verbs and rdma_cm
 *                   alone, or polls in vain. Then only its peers can change anything, and the
 *                   collector, which hears the same of them and asks the daemon, closes the circle.
 *
 * A thread that runs, sleeps, or waits for anything else may change everything: nothing is told.
 */
#ifndef UHCAV_HANG_JUDGE_H
#define UHCAV_HANG_JUDGE_H

#include "book.h"
#include "thread.h"

/* A thread that waits in rdma_destroy_id for acknowledgements; also where there are no CQs. */
void uhcav_hang_judge_destroy(const struct uhcav_hang_threads *threads, uint64_t now,
			      uint64_t after);

/* A thread that has polled dry queues in vain for longer than this; NULL: there is none. */
const struct uhcav_hang_thread *uhcav_hang_judge_end(struct uhcav_hang_threads *threads,
						     uint64_t now, uint64_t after);

/* A completion queue may have overflowed, and the event waits to be read. */
void uhcav_hang_judge_overflow(void);
void uhcav_hang_judge_cq(struct uhcav_hang_cq *h); /* of one queue */

/* Once a tick, after both were looked at. Under the book's lock, which it may drop and take. */
void uhcav_hang_judge(struct uhcav_hang_threads *threads, uint64_t now, uint64_t after);

#endif
