/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engines that work with a QP stand in modules above this one: what sends, what receives,
 * what keeps an acknowledgement that outlives its QP, and multicast groups. Each has a row of what
 * it does when a QP begins, changes and ends; core_create lists the rows in struct device.engines,
 * and they are called in that order. An operation may be NULL.
 */
#ifndef CORE_ENGINE_H
#define CORE_ENGINE_H

#include "qp.h"

struct qp_engine {
	/*
	 * Memory for a QP whose sizes are set: 0 or -ENOMEM. What was not made is not destructed.
	 */
	int (*construct)(struct qp *qp);
	void (*destruct)(struct qp *qp);
	/* RESET: nothing is outstanding, what is in the rings is forgotten. */
	void (*reset)(struct qp *qp);
	/* The QP went from this state to the one it has; not to RESET or ERR. */
	void (*changed)(struct qp *qp, enum qp_state old);
	/* Everything that is under way stops (ERR). */
	void (*stop)(struct qp *qp);
	/* Completes with WR_FLUSH_ERR whatever stands in its queue, as the state allows. */
	void (*flush)(struct qp *qp);
	/* The QP is about to forget what it owes its peer. */
	void (*leave)(struct qp *qp);
};

/* The same of all engines of the QP's device. */
int engines_construct(struct qp *qp);
void engines_destruct(struct qp *qp);
void engines_reset(struct qp *qp);
void engines_changed(struct qp *qp, enum qp_state old);
void engines_stop(struct qp *qp);
void engines_flush(struct qp *qp);
void engines_leave(struct qp *qp);

#endif
