/* SPDX-License-Identifier: BSD-2-Clause */
/* Steering rules of raw packet queue pairs (ibv_create_flow(3)). */
#ifndef UHCAV_FLOW_H
#define UHCAV_FLOW_H

#include <infiniband/verbs.h>

/* NULL with errno: EINVAL for a list that is not well formed, EOPNOTSUPP for what is not there. */
struct ibv_flow *uhcav_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);

/* 0 or an errno value. */
int uhcav_destroy_flow(struct ibv_flow *flow);

#endif
