/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues (ibv_create_srq(3)); posting to them is post_recv.c. */
#ifndef UHCAV_SRQ_H
#define UHCAV_SRQ_H

#include "context.h"
#include "work_queue.h"

#include <infiniband/verbs.h>
#include <stdint.h>

struct uhcav_srq {
	union {
		struct ibv_srq srq;
		uint8_t room[UHCAV_OBJECT_ROOM];
	};
	struct uhcav_context *ctx;
	struct uhca_abi_queue *page;
	struct uhcav_work_queue rq;
	uint32_t handle;
	size_t region_size;
	uint32_t async_events_read; /* atomic */
};

static inline struct uhcav_srq *uhcav_srq_of(struct ibv_srq *srq)
{
	return (struct uhcav_srq *)(void *)srq;
}

/*
 * ibv_create_srq(3): NULL with errno; attr->attr gets what was granted. The library fills in the
 * other public fields. ibv_create_srq_ex comes here, too, for what it shares with the former.
 */
struct ibv_srq *uhcav_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/* 0 or an errno value. Resizing is not supported: EOPNOTSUPP. */
int uhcav_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask);
int uhcav_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int uhcav_destroy_srq(struct ibv_srq *ibsrq);

#endif
