/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failed completions that the program does not read: it polls another queue of the queue pair, or
 * none. The cause of a failure stands in them alone.
 */
#ifndef UHCAV_UNREAD_H
#define UHCAV_UNREAD_H

#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

/*
 * "here" has polled a flushed request of this queue pair from cq: what failed before it may wait in
 * the other completion queue. "locked": the caller has the CQ's lock.
 */
void uhcav_unread_flushed(struct uhcav_here here, struct uhcav_cq *cq, uint32_t qpn, bool locked);

/* "here" is about to destroy the queue pair: the peer may have refused a request of it. */
void uhcav_unread_dropped(struct uhcav_here here, struct uhcav_qp *qp);

#endif
