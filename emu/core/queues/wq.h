/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work queues: receive queues that belong to no QP (ibv_create_wq(3)), and the indirection tables
 * through which RSS QPs spread frames over them (ibv_create_rwq_ind_table(3)).
 */
#ifndef CORE_WQ_H
#define CORE_WQ_H

#include "cq.h"
#include "emu/core/memory/memory.h"
#include "recv_queue.h"

/* enum ibv_wq_state */
enum wq_state { WQS_RESET, WQS_RDY, WQS_ERR, WQS_COUNT };

#define WQ_NUMBER_BASE (1u << 24) /* work queue numbers are not QP numbers */

struct wq {
	struct object obj; /* refs: entries of tables */
	struct pd *pd;
	struct cq *cq;
	uint64_t cookie;
	uint32_t async_events;
	uint32_t wq_num;
	enum wq_state state;
	struct core_ring ring;
	struct recv_queue rq;
};

struct ind_table {
	struct object obj; /* refs: QPs */
	uint32_t log_size;
	struct wq *wq[1u << UHCA_ABI_IND_TABLE_LOG];
};

/* A frame for this queue; dropped when it is not ready or has no receive. */
void wq_receive(struct wq *wq, const struct core_frame *frame, uint32_t tag);

/* Raises an affiliated async event (UHCA_ABI_EVENT_*) of this work queue. */
void wq_event(struct wq *wq, uint32_t type);

extern const struct object_type object_wq;
extern const struct object_type object_ind_table;

#endif
