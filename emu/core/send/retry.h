/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When to send again (IBTA vol. 1, 9.7.6, 9.9.2.4): the local ACK timeout, retry and RNR retry
 * counters, going back to the oldest PSN that is not acknowledged. One timer per QP; it is set
 * when the first packet goes out and looks at its expiry whether an answer came meanwhile, so
 * that the packet path never touches the heap.
 */
#ifndef CORE_RETRY_H
#define CORE_RETRY_H

#include "emu/core/base/base.h"
#include "emu/core/contract/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct qp;

/* A packet that wants an answer was sent; first: nothing else waits for one. */
void retry_sent(struct qp *qp, bool first);

/* An answer moved una_psn: counters are full again (9.9.2.4.1), the clock starts anew. */
void retry_progress(struct qp *qp);

/* Counters as modify_qp set them. */
void retry_refill(struct qp *qp);

/*
 * Something got lost: sends again from una_psn, at the cost of one retry. Completes the oldest
 * request with RETRY_EXC_ERR when none is left.
 */
void retry_lost(struct qp *qp, enum core_retry why);

/* RNR NAK with this timer code: waits, then sends again; RNR_RETRY_EXC_ERR when none is left. */
void retry_rnr(struct qp *qp, uint8_t code);

/*
 * The timer is due. True when its wait begins anew, because there was progress, or nothing is
 * waited for; false when something ends: a try, or the wait after an RNR NAK.
 */
bool retry_timer_postpone(struct timer *t, uint64_t now);

/* The timer of struct requester fires here. */
void retry_timer_fired(struct timer *t, uint64_t now);

#endif
