/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues (ibv_create_wq(3)): libibverbs posts to one by a function that stands in it. */
#ifndef UHCAV_CREATE_WQ_H
#define UHCAV_CREATE_WQ_H

#include <infiniband/verbs.h>

/* NULL with errno. */
struct ibv_wq *uhcav_create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr);

#endif
