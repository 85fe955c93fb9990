/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queue with its limit event (IBTA vol. 1, 10.2.9). */
#ifndef CORE_SRQ_H
#define CORE_SRQ_H

#include "emu/core/memory/memory.h"
#include "recv_queue.h"
#include "xrcd.h"

struct srq {
	struct object obj; /* refs: QPs */
	struct pd *pd;
	uint64_t cookie;
	uint32_t srq_num;
	struct xrcd *xrcd; /* XRC: the domain whose QPs deliver here, or NULL */
	struct cq *cq;     /* XRC: where its receives complete */
	uint32_t limit;    /* 0: not armed */
	bool error;        /* a client broke its ring */
	uint32_t async_events;
	uint32_t abandoned; /* requests that were taken and will never complete */
	struct core_ring ring;
	struct recv_queue rq;
};

/* What the client is to know of it. */
void srq_reply(const struct srq *srq, struct uhca_cmd_create_srq_reply *out);

/* After a request was taken: raises SRQ_LIMIT_REACHED once when fewer than limit remain. */
void srq_check_limit(struct srq *srq);

/* A request that was taken will never complete: its QP was reset or destroyed meanwhile. */
void srq_abandon(struct srq *srq);

/* The ring's contents make no sense: raises SRQ_ERR once; nothing is taken from it any more. */
void srq_fail(struct srq *srq);

/* Raises an affiliated async event (UHCA_ABI_EVENT_*) of this SRQ. */
void srq_event(struct srq *srq, uint32_t type);

extern const struct object_type object_srq;

#endif
