/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate limit of a QP (IBV_QP_RATE_LIMIT, ibv_modify_qp_rate_limit(3)): no more kilobits leave
 * its send queue in a second, headers and what is sent again included; answers to its peer's READs
 * do not count. After a rest a burst may leave at once: of max_burst_sz bytes, else of what the
 * rate has for half a millisecond, and of one packet at least. QPs without a limit pay one look.
 */
#ifndef CORE_SEND_RATE_H
#define CORE_SEND_RATE_H

#include "emu/core/qp/queue_pair.h"

/* The same of a QP that has a limit. */
bool send_rate_wait(struct qp *qp);

/* May it send now? If not it goes on by itself when it may. */
static inline bool send_rate_allows(struct qp *qp)
{
	return !qp->req.rate.kbps || send_rate_wait(qp);
}

/* Payload of one burst at the most: what leaves at once is no more than a burst. */
size_t send_rate_most(const struct qp *qp, size_t cap);

/* So much payload leaves now, in so many packets. Of a QP that has a limit. */
void send_rate_count(struct qp *qp, uint32_t bytes, uint32_t packets);

#endif
