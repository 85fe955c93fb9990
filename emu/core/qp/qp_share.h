/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receiving QPs (IBTA vol. 1, annex A14; ibv_open_qp(3)). An XRC_RECV QP belongs to its
 * domain; clients have handles of it, which differ from those of QPs in their highest bit. Each
 * gets the QP's events with its own cookie, may modify and query the QP, and the QP ends with
 * the last of them, however many clients made handles or died.
 */
#ifndef CORE_QP_SHARE_H
#define CORE_QP_SHARE_H

#include "emu/core/base/base.h"
#include "emu/core/queues/queues.h"
#include "qp.h"

#define QP_SHARE_BIT 0x80000000u /* in handles that clients see */

struct qp_share {
	struct object obj;
	struct list link; /* on qp->shares */
	struct qp *qp;
	struct xrcd *xrcd;
	uint64_t cookie;
	struct core_ring ring; /* a region without queues */
	struct uhca_abi_queue *page;
	uint32_t async_events; /* that the client was told (region.h) */
};

/* The QP behind a client's handle, shared or not: 0 or -EINVAL. */
int qp_find(struct client *c, uint32_t handle, struct qp **out);

/* A further handle of the QP, with its region. 0 or -ENOMEM; *out is what the client calls it. */
int qp_share_create(struct xrcd *x, struct qp *qp, uint64_t cookie, struct core_ring *ring,
		    uint32_t *out);

/* Frees the handle, and the QP when it was the last. */
void qp_share_destroy(struct qp_share *s);

/* Events that were not delivered yet are taken back. In qp_event.c. */
void qp_share_take_back_events(struct qp_share *s);

/* The share that a client's handle names, NULL when the handle is no share's. */
struct qp_share *qp_share_find(struct client *c, uint32_t handle);

extern const struct object_type object_qp_share;

#endif
