/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a poll does that found nothing: gives the processor away. Where the device is at work on
 * requests that complete here, and they take so long that a sleep hardly lengthens it, it sleeps:
 * on few processors the device works faster for it. A program that waits for what others send
 * yields; it may look at more than this CQ, and is to come back soon. But where much is streaming
 * in to which it sends no answer, and receives are there for more, it sleeps, too.
 */
#ifndef UHCAV_WAIT_CQ_H
#define UHCAV_WAIT_CQ_H

#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

#include <stdbool.h>

/* An entry of that QP is taken. Under the lock. */
void uhcav_cq_streams(struct uhcav_cq *cq, const struct uhcav_qp *qp, const struct uhca_abi_cqe *e);

/*
 * Will the device take long with what this CQ's send queues have for it, or with what streams in?
 * Of a few queue pairs each time, and only of a thread that waits (uhcav_waits). Under the lock.
 */
bool uhcav_cq_takes_long(struct uhcav_cq *cq);

/* Gives the processor away; takes_long: what uhcav_cq_takes_long has said. */
void uhcav_cq_wait(bool takes_long);

#endif
