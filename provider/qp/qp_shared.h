/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XRC_RECV QPs (ibv_create_qp_ex(3), ibv_open_qp(3)): without queues, PD and CQs, in an XRC domain,
 * and shared by all that open them. They are modified, queried and destroyed as others are.
 */
#ifndef UHCAV_QP_SHARED_H
#define UHCAV_QP_SHARED_H

#include <infiniband/verbs.h>

/* attr->qp_type is IBV_QPT_XRC_RECV. NULL with errno. */
struct ibv_qp *uhcav_create_shared_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr);

/* ibv_open_qp(3): NULL with errno; EINVAL when there is no such QP in the domain. */
struct ibv_qp *uhcav_open_qp(struct ibv_context *ibctx, struct ibv_qp_open_attr *attr);

#endif
