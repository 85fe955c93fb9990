/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended QPs (ibv_create_qp_ex(3)): libibverbs posts to them by functions that stand in them
 * (qp_ex.h). Those without send queues are made in qp/.
 */
#ifndef UHCAV_CREATE_QP_EX_H
#define UHCAV_CREATE_QP_EX_H

#include "provider/qp/qp.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* With send_ops_flags. NULL with errno; EOPNOTSUPP for what the device does not have. */
struct ibv_qp *uhcav_create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr);

/* What a QP is made with beyond struct ibv_qp_init_attr. */
struct uhcav_qp_extra {
	bool with_table;         /* it has ibv_wr_* calls: those of ops */
	uint64_t ops;            /* enum ibv_qp_create_send_ops_flags */
	uint32_t create_flags;   /* enum ibv_qp_create_flags, UHCA_ABI_QP_* */
	uint32_t max_list_bytes; /* the longest list or operands */
};

/*
 * ibv_create_qp_ex of an ordinary QP (no RSS, no XRC_RECV): adds to extra what attr asks for. 0 or
 * -errno.
 */
int uhcav_qp_create_extra(struct ibv_qp_init_attr_ex *attr, struct uhcav_qp_extra *extra,
			  struct uhcav_qp **out);

#endif
