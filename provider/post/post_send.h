/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting to a send queue. */
#ifndef UHCAV_POST_SEND_H
#define UHCAV_POST_SEND_H

#include <infiniband/verbs.h>

/*
 * ibv_post_send(3). On an error *bad_wr is the first request that was not posted; those before it
 * were. EINVAL: QP in RESET, INIT or RTR, or a request with an opcode or flag that this QP type
 * does not take, too many elements, inline data that is too long or of a request that has no
 * payload, or no address handle; ENOMEM: the queue is full; EIO: the device is gone.
 */
int uhcav_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/*
 * ibv_bind_mw(3): posts a bind of a type 1 window (EINVAL for another), which ibv_post_send does
 * not take. 0 or an errno value; on success mw->rkey is the key that the bind gives it.
 */
int uhcav_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

#endif
