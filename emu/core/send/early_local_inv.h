/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.local_inv_early: LOCAL_INV without fence is loosely ordered, it may be executed as soon as
 * it is posted (IBTA vol. 1, 10.8.3.3; iWARP verbs agree). Here it is: whenever the queue is looked
 * at, before anything else is taken from it. It completes in its turn all the same, with what came
 * of it. Also a registration or bind of the same key that was posted before it has not happened
 * then: the key is found invalid, and the request fails in its turn.
 */
#ifndef CORE_EARLY_LOCAL_INV_H
#define CORE_EARLY_LOCAL_INV_H

#include "emu/core/qp/queue_pair.h"

struct qp;

/* What is known of a request that was not fetched yet. */
enum early_result {
	EARLY_NOT, /* nothing was done */
	EARLY_DONE,
	EARLY_FAILED,
};

/* Memory for a queue of "entries" slots. 0 or -ENOMEM. */
int early_local_inv_construct(struct early_local_inv *e, uint32_t entries);
void early_local_inv_destruct(struct early_local_inv *e);

/* Executes what is posted and was not looked at yet. */
void early_local_inv_look(struct qp *qp);

/* What came of the request at ring index "index", of which wqe is the copy that counts. */
enum early_result early_local_inv_result(const struct qp *qp, uint32_t index,
					 const struct uhca_abi_send_wqe *wqe);

#endif
