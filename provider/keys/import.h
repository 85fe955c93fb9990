/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of another process that shares its context (ibv_import_pd(3), ibv_import_mr(3); device
 * memory is in dm.h). Unimporting frees what is ours; the object stays.
 */
#ifndef UHCAV_IMPORT_H
#define UHCAV_IMPORT_H

#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdint.h>

/* NULL with errno: EINVAL for a handle of no object that is shared with this context. */
struct ibv_pd *uhcav_import_pd(struct ibv_context *ibctx, uint32_t handle);
void uhcav_unimport_pd(struct ibv_pd *pd);

/* Likewise. The region's memory is the other process's: addr is NULL. */
struct ibv_mr *uhcav_import_mr(struct ibv_pd *pd, uint32_t handle);
void uhcav_unimport_mr(struct ibv_mr *mr);

/* For either kind and for dm.c, which gets a descriptor. 0, or an error with errno. */
int uhcav_import_ask(struct ibv_context *ibctx, uint32_t type, uint32_t handle,
		     struct uhca_cmd_import_reply *reply, int *fd);

#endif
