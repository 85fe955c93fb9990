/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Polling a CQ: the ring first, then, when the daemon has died, the work that it left undone.
 */
#ifndef UHCAV_POLL_CQ_H
#define UHCAV_POLL_CQ_H

#include "cq.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

/*
 * ibv_poll_cq(3): the number of completions put into wc (0 to n), or a negative errno value in a
 * fork's child. Yields the CPU when there is none.
 */
int uhcav_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc);

/* Would a poll find something now? */
bool uhcav_cq_pending(struct uhcav_cq *cq);

#endif
