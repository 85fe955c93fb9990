/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "dv": the calls of <infiniband/uhcadv.h>, as the plugin does them. What they mean and
 * answer is said there. The arguments are objects of ours; dv_table.c has seen to that.
 *
 * Who may call: dv_table.c. It calls post, qp, keys, context and base.
 * Where to begin: dv_post.c, then dv_layout.h.
 */
#ifndef UHCAV_DV_H
#define UHCAV_DV_H

#include "provider/qp/qp.h"

#include <infiniband/uhcadv.h>
#include <stddef.h>
#include <stdint.h>

/* dv_query.c */
int uhcav_dv_query_device(struct ibv_context *ibctx, struct uhcadv_device_attr *attr,
			  size_t attr_size);

/* dv_qp.c: NULL with errno. */
struct ibv_qp *uhcav_dv_create_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr,
				  const struct uhcadv_qp_init_attr *dv_attr);

/* dv_mr.c: NULL with errno; an errno value. */
struct ibv_mr *uhcav_dv_alloc_mr(struct ibv_pd *pd, uint32_t max_entries);
int uhcav_dv_rereg_interleaved(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
			       const struct uhcadv_interleaved *layout);
int uhcav_dv_rereg_sg(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
		      const struct uhcadv_block *block, uint32_t n);

/*
 * dv_post.c. Beyond what ibv_post_send answers: EOPNOTSUPP for a request that the device or its
 * profile has not (also for access flags), E2BIG for a list that is longer than any key has room
 * for or than the QP's entries have (max_list_entries), EINVAL for what cannot be right whatever
 * the device has: comp_mask, flags, a region of another context, an empty list, a page shift, a
 * size of operands, operands that are missing, not one element with READ_WITH_INV.
 */
int uhcav_dv_post_send(struct ibv_qp *ibqp, struct uhcadv_send_wr *wr,
		       struct uhcadv_send_wr **bad_wr);

/* dv_wr.c: NULL with errno. */
struct uhcadv_qp_ex *uhcav_dv_qp_ex(struct ibv_qp_ex *qpx);

#endif
