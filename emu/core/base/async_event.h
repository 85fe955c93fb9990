/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Affiliated asynchronous events (IBTA vol. 1, 11.6.3): what happened to which CQ or SRQ, named
 * by the cookie its owner gave. qp_event stands in qp.h. Types are UHCA_ABI_EVENT_*.
 */
#ifndef CORE_ASYNC_EVENT_H
#define CORE_ASYNC_EVENT_H

#include "emu/core/queues/cq.h"
#include "emu/core/queues/srq.h"
#include "emu/core/queues/wq.h"

struct qp;

void cq_event(struct cq *cq, uint32_t type);
void srq_event(struct srq *srq, uint32_t type);
void wq_event(struct wq *wq, uint32_t type);

/* Of the port or the device: to every client. */
void port_tell_all(struct device *dev, uint32_t type);

/* The client destroys the object: records that wait in the daemon are not sent any more. */
void qp_take_back_events(struct qp *qp);
void cq_take_back_events(struct cq *cq);
void srq_take_back_events(struct srq *srq);
void wq_take_back_events(struct wq *wq);

/* More (or fewer) records went to the client: in our books and in the shared ones. */
void event_count(uint32_t *own, uint32_t *shared, int32_t by);

#endif
