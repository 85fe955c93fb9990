/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing is agreed on, and nothing needs the device. */
#include "ece.h"

#include <errno.h>

int uhcav_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	(void)ibqp;
	*ece = (struct ibv_ece){.vendor_id = 0};
	return 0;
}

int uhcav_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (ece->comp_mask || ece->vendor_id)
		return EINVAL;
	return uhcav_query_ece(ibqp, ece);
}
