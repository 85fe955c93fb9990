/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work queues (ibv_create_wq(3)) and indirection tables (ibv_create_rwq_ind_table(3)). A queue that
 * outlives its daemon stays silent, as an SRQ does.
 */
#ifndef UHCAV_WQ_H
#define UHCAV_WQ_H

#include "provider/context/context.h"
#include "work_queue.h"

#include <infiniband/verbs.h>
#include <stdint.h>

struct uhcav_wq {
	union {
		struct ibv_wq wq;
		uint8_t room[UHCAV_OBJECT_ROOM];
	};
	struct uhcav_context *ctx;
	struct uhca_abi_queue *page;
	struct uhcav_work_queue rq;
	size_t region_size;
	uint32_t async_events_read; /* atomic */
};

static inline struct uhcav_wq *uhcav_wq_of(struct ibv_wq *wq)
{
	return (struct uhcav_wq *)(void *)wq;
}

/* ibv_create_wq(3) but for its post_recv, which is not set: NULL with errno. */
struct ibv_wq *uhcav_wq_new(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr);

/* What is posted to a queue in the error state is to be flushed at once: the device is told. */
void uhcav_wq_flush(struct uhcav_wq *wq);

/* 0 or an errno value; NULL with errno. */
int uhcav_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr);
int uhcav_destroy_wq(struct ibv_wq *ibwq);
struct ibv_rwq_ind_table *uhcav_create_rwq_ind_table(struct ibv_context *ibctx,
						     struct ibv_rwq_ind_table_init_attr *attr);
int uhcav_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

#endif
