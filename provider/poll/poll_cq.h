/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Polling a CQ: the ring first, then, when the daemon has died, the work that it left undone.
 */
#ifndef UHCAV_POLL_CQ_H
#define UHCAV_POLL_CQ_H

#include "provider/queues/queues.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Bits of an entry's flags that are enum ibv_wc_flags. */
#define UHCAV_WC_PUBLIC_FLAGS                                                                      \
	(UHCA_ABI_WC_GRH | UHCA_ABI_WC_WITH_IMM | UHCA_ABI_WC_IP_CSUM_OK | UHCA_ABI_WC_WITH_INV)

/*
 * ibv_poll_cq(3): the number of completions put into wc (0 to n), or a negative errno value in a
 * fork's child. Gives the CPU away when there is none (wait_cq.h).
 */
int uhcav_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc);

/*
 * One entry of the ring, under the lock: what stands at the consumer index, its data placed and
 * its QP told, or NULL. It stays in the ring until uhcav_cq_pass.
 */
const struct uhca_abi_cqe *uhcav_cq_peek(struct uhcav_cq *cq);
void uhcav_cq_pass(struct uhcav_cq *cq, const struct uhca_abi_cqe *e);

/*
 * The daemon is gone and the ring is empty: up to n completions with WR_FLUSH_ERR. Under the
 * lock.
 */
int uhcav_cq_flush(struct uhcav_cq *cq, int n, struct ibv_wc *wc);

/* Would a poll find something now? */
bool uhcav_cq_pending(struct uhcav_cq *cq);

#endif
