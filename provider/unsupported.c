/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs that the device lacks: each fails with EOPNOTSUPP and sets errno. */
#include "unsupported.h"

#include "provider/base/base.h"
#include "provider/context/context.h"

int uhcav_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
	*bad_op = op;
	return uhcav_failed(uhcav_refuse(uhcav_context_of(srq->context), "post_srq_ops", EOPNOTSUPP,
					 "tag matching is not supported"));
}
