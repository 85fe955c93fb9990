/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Affiliated asynchronous events (IBTA vol. 1, 11.6.3): what happened to which CQ or SRQ, named
 * by the cookie its owner gave. qp_event stands in qp.h. Types are UHCA_ABI_EVENT_*.
 */
#ifndef CORE_ASYNC_EVENT_H
#define CORE_ASYNC_EVENT_H

#include "cq.h"
#include "srq.h"

void cq_event(struct cq *cq, uint32_t type);
void srq_event(struct srq *srq, uint32_t type);

#endif
