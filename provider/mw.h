/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows (ibv_alloc_mw(3), ibv_bind_mw(3)). */
#ifndef UHCAV_MW_H
#define UHCAV_MW_H

#include "wqe.h"

#include <infiniband/verbs.h>

/* NULL with errno: EINVAL for an unknown type, EOPNOTSUPP for one that the device has not. */
struct ibv_mw *uhcav_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);

/* 0 or an errno value. A window that is bound is unbound by it. */
int uhcav_dealloc_mw(struct ibv_mw *mw);

/*
 * Posts a bind of a type 1 window. 0 or an errno value; on success mw->rkey is the key that the
 * bind gives it.
 */
int uhcav_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* May this window be bound to this region by a queue of the context? 0 or EINVAL. */
int uhcav_mw_check_bind(const struct ibv_context *ibctx, const struct ibv_mw *mw,
			const struct ibv_mw_bind_info *info);

/* The part of a send entry that describes a bind. */
void uhcav_mw_put_bind(struct uhca_abi_send_wqe *wqe, const struct ibv_mw *mw, uint32_t new_rkey,
		       const struct ibv_mw_bind_info *info);

#endif
