/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended completion queues (ibv_create_cq_ex(3)), and the clock of their time stamps. */
#ifndef UHCAV_CQ_EX_H
#define UHCAV_CQ_EX_H

#include <infiniband/verbs.h>

/*
 * ibv_create_cq_ex(3): NULL with errno. EOPNOTSUPP: wc_flags, flags or a comp_mask beyond what
 * this device has; EINVAL: as ibv_create_cq(3), and for a parent_domain that is none.
 */
struct ibv_cq_ex *uhcav_create_cq_ex(struct ibv_context *ibctx, struct ibv_cq_init_attr_ex *attr);

/*
 * ibv_query_rt_values_ex(3): the raw clock, which counts nanoseconds as the time stamps of
 * completions do, all of it in tv_nsec. 0 or EOPNOTSUPP for values that are not known.
 */
int uhcav_query_rt_values(struct ibv_context *ibctx, struct ibv_values_ex *values);

#endif
