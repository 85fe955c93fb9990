/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains (ibv_alloc_pd(3)). */
#ifndef UHCAV_PD_H
#define UHCAV_PD_H

#include <infiniband/verbs.h>

/* NULL with errno. */
struct ibv_pd *uhcav_alloc_pd(struct ibv_context *ibctx);

/* 0 or an errno value; EBUSY while anything is in it. */
int uhcav_dealloc_pd(struct ibv_pd *pd);

#endif
