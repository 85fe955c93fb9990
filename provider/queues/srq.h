/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues (ibv_create_srq(3)); posting to them is post_recv.c. */
#ifndef UHCAV_SRQ_H
#define UHCAV_SRQ_H

#include "provider/context/context.h"
#include "work_queue.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct uhcav_shadow;

struct uhcav_srq {
	union {
		struct ibv_srq srq;
		uint8_t room[UHCAV_OBJECT_ROOM];
	};
	struct uhcav_context *ctx;
	struct uhca_abi_queue *page;
	struct uhcav_work_queue rq;
	uint32_t number; /* XRC: what senders name it by */
	bool xrc;
	bool limited;        /* a limit was armed once; atomic */
	struct uhcav_cq *cq; /* XRC: where its receives complete, else NULL */
	size_t region_size;
	uint32_t async_events_read;  /* atomic */
	struct uhcav_shadow *shadow; /* sanitize/; NULL: nobody watches */
	struct uhcav_inside inside;  /* the same */
	struct uhcav_pd *parent;     /* the parent domain it is in, or NULL */
};

static inline struct uhcav_srq *uhcav_srq_of(struct ibv_srq *srq)
{
	return (struct uhcav_srq *)(void *)srq;
}

/*
 * ibv_create_srq(3): NULL with errno; attr->attr gets what was granted. The library fills in the
 * other public fields.
 */
struct ibv_srq *uhcav_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/* ibv_create_srq_ex(3): basic and XRC SRQs; here all public fields are ours. */
struct ibv_srq *uhcav_create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *attr);

/* ibv_get_srq_num(3): 0 or EINVAL for an SRQ that is not an XRC one. */
int uhcav_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num);

/* 0 or an errno value. Resizing is not supported: EOPNOTSUPP. */
int uhcav_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask);
int uhcav_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int uhcav_destroy_srq(struct ibv_srq *ibsrq);

/* EOPNOTSUPP, in errno as well: the library's own answer leaves errno as it was. */
int uhcav_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);

#endif
