/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains (ibv_alloc_pd(3)). */
#ifndef UHCAV_PD_H
#define UHCAV_PD_H

#include <infiniband/verbs.h>
#include <stdint.h>

/* NULL with errno. */
struct ibv_pd *uhcav_alloc_pd(struct ibv_context *ibctx);

/* 0 or an errno value; EBUSY while anything is in it. */
int uhcav_dealloc_pd(struct ibv_pd *pd);

/* Our part of a domain that the device has: NULL without memory. Freed with free(3). */
struct ibv_pd *uhcav_pd_new(struct ibv_context *ibctx, uint32_t handle);

#endif
