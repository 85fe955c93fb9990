/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting to receive queues, of a QP and shared. */
#ifndef UHCAV_POST_RECV_H
#define UHCAV_POST_RECV_H

#include "provider/context/context.h"
#include "provider/queues/queues.h"

#include <infiniband/verbs.h>

/*
 * ibv_post_recv(3), ibv_post_srq_recv(3). On an error *bad_wr is the first request that was not
 * posted. EINVAL: QP in RESET or with an SRQ, too many elements; ENOMEM: the queue is full; EIO:
 * the device is gone.
 */
int uhcav_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int uhcav_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* The same for a queue whose owner has been checked: posts the list, publishes what it could. */
int uhcav_work_queue_post(struct uhcav_work_queue *wq, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr);

/* And where rules say how far it gets; ask: the verb and what it names. */
int uhcav_work_queue_ask_post(struct uhcav_context *ctx, struct uhca_cmd_fault_check *ask,
			      struct uhcav_work_queue *wq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr);

#endif
