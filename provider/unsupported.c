/* SPDX-License-Identifier: BSD-2-Clause */
#include "unsupported.h"

#include "provider/base/base.h"

int uhcav_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	(void)qp, (void)attr;
	return uhcav_failed(EOPNOTSUPP);
}

int uhcav_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
	(void)srq;
	*bad_op = op;
	return uhcav_failed(EOPNOTSUPP);
}
